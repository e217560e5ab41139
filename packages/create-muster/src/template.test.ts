/** Starts the processes of the template as `npm create muster` writes them, and sends them requests of strangers. */
import { spawn } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

/**
 * The WebSocket library of the template's game server. It is a dependency of examples/, because this package has none.
 */
const { WebSocket: Socket } = createRequire(new URL('../../../examples/package.json', import.meta.url))('ws') as {
  readonly WebSocket: new (url: string) => EventEmitter & { send(text: string): void }
}
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Only a packed package contains the bundle of the client. */
const BUNDLE = ["import.meta.resolve('@muster/client/muster.global.js')", "'./public/page.js'"] as const

/**
 * Creates a game that finds the packages of this repository.
 * @param changes the text to replace and its replacement, by file
 */
function createGame(changes: Readonly<Record<string, readonly [string, string]>> = {}): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'muster-template-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(root, 'packages/create-muster/template'), folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules/@muster'), { recursive: true })
  for (const name of ['client', 'game-server'])
    symlinkSync(join(root, 'packages', name), join(folder, 'node_modules/@muster', name))
  symlinkSync(realpathSync(join(root, 'examples/node_modules/ws')), join(folder, 'node_modules/ws'))
  for (const [file, [before, after]] of Object.entries(changes)) {
    const text = readFileSync(join(folder, file), 'utf8')
    expect(text).toContain(before)
    writeFileSync(join(folder, file), text.replace(before, after))
  }
  return folder
}

/** Runs a file of the game, which is killed when the test ends. */
function run(folder: string, file: string, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [file], { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
  child.stderr.pipe(process.stderr)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  /** Resolves with the first group of the first output line that matches. */
  const find = async (pattern: RegExp) => {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, found] = pattern.exec(line) ?? []
      if (found !== undefined) return found
    }
    throw new Error(`${file} ended`)
  }
  return { child, find }
}

test('the development page of the template gives no tokens to a foreign host name of this machine', async () => {
  const web = run(createGame({ 'web.js': BUNDLE }), 'web.js', { PORT: '0', ALLOWED_HOSTS: 'desk.example.com' })
  web.child.stdin.write('  API  http://127.0.0.1:8080\n  authorization: "Bearer master:ann"\n')
  const port = Number(await web.find(/^ +Play +http:\/\/localhost:(\d+)/))
  const ask = async (host: string) => {
    const sent = request({ host: 'localhost', port, path: '/session?name=ann', headers: { host } }).end()
    const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
    let text = ''
    for await (const part of answer) text += String(part)
    return `${answer.statusCode} ${text.includes('master')}`
  }
  const own = [`localhost:${port}`, 'LocalHost', '127.0.0.1:3000', `[::1]:${port}`, '[::1]', 'desk.example.com:3000']
  for (const host of own) expect(await ask(host), host).toBe('200 true')
  const strange = ['evil.example.com', `evil.example.com:${port}`, 'localhost.evil.example.com', '127.0.0.1.nip.io']
  for (const host of strange) expect(await ask(host), host).toBe('421 false')
})

const TELL = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('port ' + this.address().port))
  return listen.apply(this, args)
}
`

test('the game server of the template closes connections that send too much or nothing', async () => {
  const folder = createGame({ 'server.js': ['SILENT_MS = 15_000', 'SILENT_MS = 300'] })
  const mapping = { ports: { game: { internal: 0, external: 0, protocol: 'WS' } } }
  // The game server does not print its port, because its deployment assigns it.
  writeFileSync(join(folder, 'tell.mjs'), TELL)
  const game = run(folder, 'server.js', {
    NODE_OPTIONS: `--import ${join(folder, 'tell.mjs')}`,
    SERVICE_PORTS_MAPPING: JSON.stringify(mapping),
  })
  const port = await game.find(/^port (\d+)/)
  const connect = () => new Socket(`ws://127.0.0.1:${port}`)
  const [silent, loud, stranger] = [connect(), connect(), connect()]
  loud.on('open', () => loud.send('x'.repeat(4097)))
  stranger.on('open', () => stranger.send('x'.repeat(4096)))
  const codes = [silent, loud, stranger].map(async (socket) => ((await once(socket, 'close')) as [number])[0])
  expect(await Promise.all(codes)).toEqual([1006, 1009, 4000])
})
