import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Bot, RemoteBot, wordsOf } from './bot.js'
import type { Fault } from './by-hand.fixture.js'
import { type Shown, studio, verify } from './verifying.fixture.js'

test.concurrent.each<readonly [Fault, readonly string[]]>([
  ['none', []],
  [
    'admits-everyone',
    [
      'refuses a token that is signed by another key',
      'refuses a token without a signature',
      'refuses an expired token',
      'refuses a token of another server',
      'refuses a token of another match',
      'refuses a token that was used',
    ],
  ],
])('muster verify-server --client lets a real client join, and detects the server fault: %s', async (fault, wrong) => {
  const client = `"${process.execPath}" bot.mjs`
  const { out } = await verify(studio(fault), '--json', '--client', client, '--', process.execPath, 'server.mjs')
  const { lines } = JSON.parse(out) as Shown
  const names = (outcome: string) => lines.filter((line) => line.outcome === outcome).map(({ name }) => name)
  expect(names('FAIL')).toEqual(expect.arrayContaining([...wrong]))
  if (wrong.length === 0) expect(names('FAIL')).toEqual([])
  expect(names('ok')).toContain('lets in who has a good token, and reports it')
  expect(out).not.toContain('answered by the library')
})

test('a client of the game ends with verify-server, also if that is interrupted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bot-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const client = `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)`
  const script = `
    const { Bot } = await import(${JSON.stringify(new URL('../../../dist/cli/verify/bot.js', import.meta.url).href)})
    new Bot({ command: [process.execPath, '-e', ${JSON.stringify(client)}], folder: '.', env: process.env })
    const { existsSync } = await import('node:fs')
    setInterval(() => existsSync('pid') && process.exit(130), 20)`
  const tester = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, stdio: 'ignore' })
  expect(await once(tester, 'exit')).toEqual([130, null])
  const isRunning = () => {
    try {
      return process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 0)
    } catch {
      return false
    }
  }
  await expect.poll(isRunning).toBe(false)
})

test('the words of a verify-server client command may be quoted', () => {
  expect(wordsOf(`node "my bot.js" --name 'a b' x`)).toEqual(['node', 'my bot.js', '--name', 'a b', 'x'])
})

test('verify-server with a URL as --client sends a POST per client that lasts until the client leaves', async () => {
  const asked: unknown[] = []
  const left: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      const body = JSON.parse(text) as { token: string }
      asked.push(body)
      if (body.token === 'silent') return
      if (body.token === 'forged') return void response.writeHead(403).end('forged')
      response.writeHead(200).flushHeaders()
      response.on('close', () => left.push(body.token))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client`
  const joining = { host: '127.0.0.1', ports: { game: 7777 } }
  const [good, forged, silent] = ['good', 'forged', 'silent'].map((token) => new RemoteBot(url, { ...joining, token }))
  expect(await good?.isIn(5000)).toBe(true)
  expect([await forged?.isIn(5000), forged?.said]).toEqual([false, 'forged'])
  expect(await silent?.isIn(10)).toBeUndefined()
  expect(asked).toContainEqual({ host: '127.0.0.1', ports: { game: 7777 }, token: 'good' })
  expect(left).toEqual([])
  await good?.end()
  await expect.poll(() => left).toEqual(['good'])
  const nobody = new RemoteBot('http://127.0.0.1:9/', { ...joining, token: 'x' })
  expect([await nobody.isIn(5000), nobody.said]).toEqual([false, expect.stringMatching(/ECONNREFUSED|bad port/)])
})

test.each([
  ["throw new Error('no map')", 'Error: no map'],
  ["import('./nosuch.mjs')", /^Error.*: Cannot find module .*nosuch/],
  ["console.log('connecting'); console.log('other-match'); process.exit(1)", 'other-match'],
])('the reason for the end of a verify-server client is its last meaningful line: %s', async (code, said) => {
  const bot = new Bot({ command: [process.execPath, '-e', code], folder: '.', env: process.env })
  expect(await bot.isIn(10_000)).toBe(false)
  expect(bot.said).toMatch(said)
})
