/** C++ and C# meet a Muster over loopback: both players, and their game server, are programs of engines/. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter } from '../ticket-api/counter.js'
import { folder, languages } from './languages.js'

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const main = fileURLToPath(new URL('../../packages/server/dist/cli/main.js', import.meta.url))
const deploy = { application: 'game', version: '1', probe: { kind: 'registration' as const, withinMs: 60_000 } }

describe.each(languages)('$name', ({ runsHere, build, command: [program, ...flags] }) => {
  const children: ChildProcessWithoutNullStreams[] = []
  beforeAll(() => {
    if (runsHere) build()
  })
  afterAll(() => children.forEach((child) => child.kill()))

  /** Starts a program, whose lines are gathered. */
  const start = (...given: string[]) => {
    const child = spawn(program, [...flags, ...given])
    children.push(child)
    child.stderr.pipe(process.stderr)
    const said: string[] = []
    createInterface(child.stdout).on('line', (line) => said.push(line))
    let hasEnded = false
    child.once('close', () => (hasEnded = true))
    return { said, hasEnded: () => hasEnded, write: (line: string) => child.stdin.write(`${line}\n`) }
  }

  test.skipIf(!runsHere)('two players are assigned and admitted, and Muster has the result', async () => {
    const results: unknown[] = []
    const { url, emulator, deployments, matchmaker, shut } = await openCounter({
      studio: { matchmaker: { queues: [{ name: 'duel', matchSize: 2, deploy }] } },
      api: {
        authenticate: (request) => {
          const id = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
          return id === '' || id.includes('.') ? undefined : { id }
        },
        address: () => '203.0.113.7',
      },
    })
    matchmaker.on('matchOver', ({ result }) => results.push(result))
    const players = ['ann', 'ben'].map((name) => start('client', url, name, 'duel'))
    await until('a server boots', () => deployments()[0]?.current_status === 'Status.READY')
    const environment = emulator.environment(deployments()[0]?.request_id ?? '')
    const server = start('server', url, environment?.['MUSTER_SERVER_TOKEN'] ?? '')
    await until('both are assigned', () => players.every(({ hasEnded }) => hasEnded()))
    for (const { said } of players) {
      expect(said.slice(0, -2)).toEqual(['searching', 'found', 'assigned'])
      expect(said.at(-2)).toMatch(/^\S+:\d+$/)
    }
    const tokens = players.map(({ said }) => said.at(-1) ?? '')
    for (const token of [tokens[0], tokens[0], `${tokens[1]}A`, tokens[1]]) server.write(token ?? '')
    await until('the server has ended', () => server.hasEnded())
    expect(server.said).toEqual([
      'match duel',
      'admitted ann',
      'refused used',
      'refused forged',
      'admitted ben',
      'over',
      'ended The match is over.',
      expect.stringMatching(/^stop /),
      'finished',
    ])
    expect(results).toEqual([{ ranking: [['ben']] }])
    expect(await shut()).toEqual(nothingLeft)
  })

  test.skipIf(!runsHere)('`muster verify-server` finds nothing wrong with the game server', async () => {
    const child = spawn(process.execPath, [main, 'verify-server', '--json', '--', program, ...flags, 'verify'])
    children.push(child)
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    await once(child, 'close')
    const { lines } = JSON.parse(said) as { readonly lines: readonly { readonly outcome: string }[] }
    expect(lines.filter(({ outcome }) => outcome === 'FAIL')).toEqual([])
    expect(lines.length).toBeGreaterThan(20)
  })
})
