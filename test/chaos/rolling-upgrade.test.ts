/**
 * Upgrades the processes of a partition one by one while players arrive. This version writes a later format than the
 * previous version. It can follow a leader of the previous version. Once it leads, processes of the previous version
 * are no longer ready.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipsRedis, startRedisServer, type RedisServer } from '@muster/redis-server'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildPrevious, type PreviousProgram } from './previous-program.js'
import { endAll, start, type Victim } from './processes.js'
import { freePort } from './program-world.js'

const KEY = 'the-key-of-the-backend-of-the-game'
const present = join(inject('bundles'), 'main.mjs')
const PROCESSES = 3
/** Milliseconds between the arrivals of two players. */
const EVERY_MS = 60

const previous = skipsRedis() ? undefined : await buildPrevious()
// Print a line like that of a skipped test: a shallow clone does not contain the previous version.
if (previous === undefined)
  process.stdout.write('1 test was skipped: rolling upgrades need a redis-server and a clone with its history\n')

interface Program {
  readonly port: number
  version: 'previous' | 'present'
  process: ChildProcess
}

interface Deployed {
  readonly request_id: string
  readonly tags: readonly string[]
  readonly current_status: string
}

describe.skipIf(previous === undefined)('a rolling upgrade', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-rolling-'))
  const { main: earlier, remove } = previous as PreviousProgram
  let redis: RedisServer
  let service: Victim
  const programs: Program[] = []

  beforeAll(async () => {
    redis = await startRedisServer()
    service = start('service-process.mjs', { seed: Number(process.env['CHAOS_SEED'] ?? 1) })
    const { url } = await service.first<{ readonly url: string }>('listening')
    for (let nth = 0; nth < PROCESSES; nth += 1) {
      const port = await freePort()
      const config = {
        name: 'rolling',
        listen: { port },
        service: { url, token: { env: 'TOKEN' } },
        queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
        store: { redis: { url: redis.url } },
        auth: { keys: [{ name: 'game', role: 'backend', key: { env: 'KEY' } }] },
        limits: { delayMs: 60_000 },
        shutdown: { withinMs: 5000 },
      }
      writeFileSync(join(folder, `${port}.yaml`), JSON.stringify(config))
      programs.push({ port, version: 'previous', process: begin(port, earlier) })
    }
    for (const program of programs) await ready(program)
  }, 120_000)
  afterAll(async () => {
    for (const program of programs) program.process.kill('SIGKILL')
    endAll()
    await redis.close()
    await remove()
    rmSync(folder, { recursive: true })
  })

  const begin = (port: number, main: string): ChildProcess =>
    spawn(process.execPath, [main, 'serve', '-c', join(folder, `${port}.yaml`)], {
      env: { ...process.env, TOKEN: 'dev', KEY },
      stdio: ['ignore', 'ignore', 'inherit'],
    })

  interface Answer {
    readonly status: number
    readonly body: { readonly [name: string]: unknown }
  }
  /** Sends a request. Status 0 means that nobody answered. */
  const ask = async (port: number, method: string, route: string, body?: object): Promise<Answer> => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${route}`, {
        method,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(10_000),
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, body: (await answer.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: {} }
    }
  }
  const until = async (what: string, isSo: () => Promise<boolean>, withinMs = 30_000) => {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await sleep(50))
      if (Date.now() > deadline) throw new Error(`${what} did not come to be in ${withinMs / 1000} s`)
  }
  const ready = ({ port }: Program) =>
    until('a ready program', async () => (await ask(port, 'GET', '/readyz')).status === 200)
  const leader = async (): Promise<Program | undefined> => {
    for (const program of programs)
      if ((await ask(program.port, 'GET', '/readyz')).body['leading'] === true) return program
    return undefined
  }
  const replace = async (program: Program) => {
    const ended = once(program.process, 'exit')
    program.process.kill('SIGTERM')
    await ended
    program.version = 'present'
    program.process = begin(program.port, present)
    await ready(program)
  }

  test('a rolling upgrade loses no player, makes no server twice, and gives no wrong answer', async () => {
    const wrong: string[] = []
    const unanswered = new Set([0, 503])
    /** Sends a request to one process after another, until one answers with a status other than 503. */
    const told = async (nth: number, method: string, route: string, body?: object): Promise<Answer> => {
      for (let at = nth; ; at += 1) {
        const answer = await ask((programs[at % PROCESSES] as Program).port, method, route, body)
        if (!unanswered.has(answer.status)) return answer
        await sleep(100)
      }
    }
    const play = async (nth: number): Promise<string | undefined> => {
      const player = `p${nth}`
      const request = { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} }
      const created = await told(nth, 'POST', '/tickets', request)
      // If the answer to the first create was lost, the repeated create is refused because the player is queued. The
      // error names the ticket.
      const id = created.status === 201 ? created.body['id'] : (created.body['ticket_id'] as string | undefined)
      if (typeof id !== 'string')
        return void wrong.push(`${player}: created ${created.status} ${JSON.stringify(created.body)}`)
      let version = 0
      for (let looks = 0; looks < 200; looks += 1) {
        const { status, body } = await told(nth + looks, 'GET', `/tickets/${id}?wait=2&version=${version}`)
        if (status !== 200) return void wrong.push(`${player}: read ${status} ${JSON.stringify(body)}`)
        if (body['status'] === 'HOST_ASSIGNED') return body['match_id'] as string
        if (body['status'] === 'CANCELLED') return void wrong.push(`${player}: ${JSON.stringify(body)}`)
        version = body['version'] as number
      }
      return void wrong.push(`${player}: had no server`)
    }

    let isOver = false
    const playing: Promise<string | undefined>[] = []
    const arriving = (async () => {
      for (let nth = 0; !isOver || nth % 2 === 1; nth += 1, await sleep(EVERY_MS)) playing.push(play(nth))
    })()
    await sleep(1000)

    // A process of this version follows a leader of the previous version.
    const first = (await leader()) as Program
    const [one, other] = programs.filter((program) => program !== first) as [Program, Program]
    await replace(one)
    expect([(await leader())?.version, one.version]).toEqual(['previous', 'present'])
    await sleep(1500)

    // Now this version leads: the old leader ends, and the old follower is suspended during the election.
    other.process.kill('SIGSTOP')
    const replacing = replace(first)
    await until(
      'a leader of this version',
      async () => (await ask(one.port, 'GET', '/readyz')).body['leading'] === true,
    )
    other.process.kill('SIGCONT')
    await replacing
    await until('a process of the version before that is not ready', async () => {
      const { status, body } = await ask(other.port, 'GET', '/readyz')
      return status === 503 && JSON.stringify(body).includes('format 2')
    })
    expect([(await leader())?.version, other.version]).toEqual(['present', 'previous'])
    await sleep(1500)

    await replace(other)
    await sleep(1000)
    isOver = true
    await arriving
    const matches = await Promise.all(playing)

    expect(wrong).toEqual([])
    expect(matches.length).toBeGreaterThan(50)
    const perMatch = countsOf(matches)
    expect([...perMatch.values()].every((count) => count === 2)).toBe(true)
    const { deployments } = await service.ask<{ readonly deployments: readonly Deployed[] }>({}, 'deployments')
    const running = deployments.filter(({ current_status }) => !/ERROR|TERMINAT/.test(current_status))
    expect(running.length).toBe(perMatch.size)
  })
})

function countsOf(all: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(String(one), (counts.get(String(one)) ?? 0) + 1)
  return counts
}
