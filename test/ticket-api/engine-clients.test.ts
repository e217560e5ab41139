/** The clients for engines of docs/game-clients.md: compiled with stubs for the engines, and played. */
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { duel, nothingLeft } from '../matchmaker/studio.js'
import { openCounter } from './counter.js'

const page = readFileSync(new URL('../../docs/game-clients.md', import.meta.url), 'utf8')
const sampleIn = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''
const folder = mkdtempSync(join(tmpdir(), 'muster-engines-'))
const stubsOf = (engine: string) => fileURLToPath(new URL(engine, import.meta.url))
afterAll(() => rmSync(folder, { recursive: true }))

/** Whether all of these run here; says in one line what is not played otherwise. */
function has(engine: string, ...tools: readonly (readonly [name: string, argument: string])[]): boolean {
  try {
    for (const [name, argument] of tools) execFileSync(name, [argument], { stdio: 'ignore' })
    return true
  } catch {
    const names = tools.map(([name]) => name).join(' and ')
    process.stderr.write(`no ${names} on this machine: the client for ${engine} of docs is not played\n`)
    return false
  }
}

test('a sample for each engine is in the page', () => {
  for (const language of ['cpp', 'csharp']) expect(sampleIn(language)).toContain('/me')
})

/** A client of the page, compiled with stubs for its engine. */
interface EngineClient {
  readonly engine: string
  readonly runsHere: boolean
  /** Compiles it. */
  readonly build: () => void
  readonly command: readonly [program: string, ...given: string[]]
  /** Seconds of its long polls. */
  readonly waits: number
}

const unreal: EngineClient = {
  engine: 'Unreal',
  runsHere: has('Unreal', ['g++', '--version']),
  build: () => {
    const client = sampleIn('cpp')
    for (const [, header = ''] of client.matchAll(/^#include "(.+)"$/gm)) {
      mkdirSync(dirname(join(folder, header)), { recursive: true })
      writeFileSync(join(folder, header), '#pragma once\n#include "engine.h"\n')
    }
    writeFileSync(join(folder, 'client.h'), client)
    const flags = ['-std=c++17', '-Wall', '-Werror', '-I', folder, '-I', stubsOf('unreal')]
    compile('g++', [...flags, join(stubsOf('unreal'), 'main.cpp'), '-o', join(folder, 'unreal')])
  },
  command: [join(folder, 'unreal')],
  waits: 20,
}

/** Where Debian's libnewtonsoft-json5.0-cil puts it. */
const JSON_LIBRARY = '/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll'

const unity: EngineClient = {
  engine: 'Unity',
  runsHere: has('Unity', ['mcs', '--version'], ['mono', '--version'], ['ls', JSON_LIBRARY]),
  build: () => {
    // Mono's compiler knows no async methods that return a type of the engine.
    const client = sampleIn('csharp').replaceAll('Awaitable<', 'System.Threading.Tasks.Task<')
    writeFileSync(join(folder, 'Client.cs'), client)
    copyFileSync(JSON_LIBRARY, join(folder, 'Newtonsoft.Json.dll'))
    const sources = ['Engine.cs', 'Main.cs'].map((name) => join(stubsOf('unity'), name))
    const flags = ['-langversion:latest', '-warnaserror', `-r:${JSON_LIBRARY}`, `-out:${join(folder, 'unity.exe')}`]
    compile('mcs', [...flags, join(folder, 'Client.cs'), ...sources])
  },
  command: ['mono', join(folder, 'unity.exe')],
  waits: 25,
}

const compile = (compiler: string, given: readonly string[]) =>
  void execFileSync(compiler, given, { stdio: ['ignore', 'inherit', 'inherit'] })

interface Answer {
  readonly status: number
  readonly retryAfter?: string
  readonly body?: unknown
}
interface Asked {
  readonly method: string
  readonly path: string
  readonly as: string
  readonly body: string
}

const nothing = { tickets: [], matches: [] }
const me = (what: object): Answer => ({ status: 200, body: { ...nothing, ...what } })
const ticket = (status: string, more: object = {}) => ({ id: 't', version: 3, status, assignment: null, ...more })

describe.each([unreal, unity].filter(({ runsHere }) => runsHere))('the client for $engine', (client) => {
  const {
    build,
    command: [program, ...given],
    waits,
  } = client
  beforeAll(build, 120_000)
  const poll = `GET /tickets/t?wait=${waits}&version=3`

  /** Plays once. Returns what was sent and told, without the requests' headers. */
  async function play(answer: (asked: Asked) => Promise<Answer>): Promise<readonly string[]> {
    const child = spawn(program, given, { stdio: ['pipe', 'pipe', 'inherit'] })
    const said: string[] = []
    for await (const line of createInterface(child.stdout)) {
      const [what = '', url = '', as = '', body = ''] = line.split('\t')
      if (!/^(GET|POST|DELETE)$/.test(what)) {
        said.push(line.replaceAll('\t', ' ').trim())
        continue
      }
      const path = url.replace('API', '')
      said.push(`${what} ${path}`)
      const { status, retryAfter = '', body: told } = await answer({ method: what, path, as, body })
      child.stdin.write(`${status}\t${retryAfter}\t${told === undefined ? '' : JSON.stringify(told)}\n`)
    }
    return said
  }

  /** Plays against these answers, one after another. */
  const playScript = (...answers: readonly Answer[]) => {
    const left = [...answers]
    return play(async () => left.shift() ?? { status: 400, body: { code: 'no-more-answers' } })
  }

  test('plays against the API: it waits by long polls, and is told where to connect', async () => {
    const { call, request, shut } = await openCounter({ studio: { matchmaker: { queues: [duel] } } })
    await call('ben', 'POST', '/tickets', { profile: 'duel' })
    const send = async ({ method, path, as, body }: Asked) => {
      const answer = await request(as, method, path, body === '' ? undefined : JSON.parse(body))
      return { status: answer.status, body: await answer.json() }
    }
    const said = await play(send)
    expect(said.slice(0, 3)).toEqual(['GET /me', 'POST /tickets', 'CHANGED SEARCHING'])
    expect(said.slice(-2)).toEqual(['CHANGED HOST_ASSIGNED', expect.stringMatching(/^ENDED \S+\.emulator\.invalid$/)])
    // After a crash it goes on with the match, and waits for no other.
    expect(await play(send)).toEqual(['GET /me', said.at(-1)])
    expect(await shut()).toEqual(nothingLeft)
  }, 60_000)

  test.each([
    ['GET /me', []],
    ['POST /tickets', [me({})]],
    [poll, [me({ tickets: [ticket('SEARCHING')] })]],
  ])('ends with the reason where %s is refused', async (last, before) => {
    const said = await playScript(...before, { status: 401, body: { code: 'unauthorized' } })
    expect(said.filter((line) => /^(GET|POST)/.test(line)).at(-1)).toBe(last)
    expect(said.at(-1)).toBe('ENDED  unauthorized')
  })

  test.each([
    ['without an answer', { status: 0 }, 'WAIT 2'],
    ['with 429', { status: 429, retryAfter: '7', body: { code: 'too-many-requests' } }, 'WAIT 7'],
    ['with 503, a page of a proxy', { status: 503 }, 'WAIT 2'],
  ])('repeats a poll %s', async (_, refusal, waits) => {
    const cancelled = { status: 200, body: ticket('CANCELLED', { cancel_reason: 'expired' }) }
    expect(await playScript(me({ tickets: [ticket('SEARCHING')] }), refusal, cancelled)).toEqual([
      'GET /me',
      'CHANGED SEARCHING',
      poll,
      waits,
      poll,
      'CHANGED CANCELLED',
      'ENDED  expired',
    ])
  })

  test('asks what the player is in when the ticket is gone, and when another one is in the way', async () => {
    const running = { assignment: { fqdn: 'a.example.com' }, ticket_id: null }
    const busy = { status: 409, body: { code: 'player-busy', ticket_id: 't' } }
    const waiting = me({ tickets: [ticket('SEARCHING')] })
    const said = await playScript(me({}), busy, waiting, { status: 404 }, me({ matches: [running] }))
    expect(said.filter((line) => !line.startsWith('WAIT'))).toEqual([
      'GET /me',
      'POST /tickets',
      'GET /me',
      'CHANGED SEARCHING',
      poll,
      'GET /me',
      'ENDED a.example.com',
    ])
  })
})
