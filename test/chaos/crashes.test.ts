import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, systemClock } from '@muster/core/clock'
import { openStore } from '@muster/matchmaker'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createProxy } from './proxy.js'
import { endAll, start, type Victim } from './processes.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
const folder = mkdtempSync(join(tmpdir(), 'muster-chaos-'))
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true }))

interface State {
  readonly stopsPending: number
  readonly blockedBy: string | undefined
  readonly matches: readonly { readonly matchId: string; readonly phase: string; readonly requestId?: string }[]
}
interface Deployed {
  readonly request_id: string
  readonly tags: readonly string[]
  readonly current_status: string
}

/** Number of processes that are killed, each after a second or two. `CHAOS_LIVES=30 pnpm chaos` runs more of them. */
const LIVES = Number(process.env['CHAOS_LIVES'] ?? 8)
const DAY_MS = 25 * 3_600_000
const isLiving = ({ current_status }: Deployed) => !/ERROR|TERMINAT/.test(current_status)

/**
 * Limits the file size of the process, so that its disk looks full. Node.js ignores the signal SIGXFSZ that Linux
 * sends.
 */
const fillDisk = ({ process: { pid } }: Victim, isFull: boolean) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${isFull ? 0 : 'unlimited'}:unlimited`], { stdio: 'ignore' })

async function openWorld() {
  const service = start('service-process.mjs', { seed })
  const proxy = await createProxy((await service.first<{ readonly url: string }>('listening')).url)
  const path = join(folder, `store-${Math.trunc(systemClock.now())}`)
  /** By match: the server to which its players were sent and whose stop nobody requested. */
  const told = new Map<string, string>()
  const wrong: string[] = []
  const sum = { lives: 0, assigned: 0, problems: 0 }

  const live = async (given: { readonly clockOffMs?: number; readonly joins?: boolean } = {}): Promise<Victim> => {
    sum.lives += 1
    const hear = (message: { readonly kind: string }) => {
      const { kind, matchId, requestId, reason, error } = message as Record<string, string>
      if (kind === 'assigned') {
        sum.assigned += 1
        told.set(matchId as string, requestId as string)
      }
      if (kind === 'problem') sum.problems += 1
      if (kind === 'unhandled') wrong.push(`unhandled: ${error}`)
      if (kind === 'stopped' && [...told.values()].includes(requestId as string)) {
        wrong.push(`${requestId} was stopped under its players: ${reason}`)
      }
    }
    const studio = start(
      'studio-process.mjs',
      { url: proxy.url, path, life: sum.lives, clockOffMs: 0, joins: true, ...given },
      hear,
    )
    await studio.first('started')
    return studio
  }
  const deployments = async () =>
    (await service.ask<{ readonly deployments: readonly Deployed[] }>({}, 'deployments')).deployments

  return {
    service,
    proxy,
    path,
    told,
    wrong,
    sum,
    live,
    deployments,
    /** Ends all faults and waits until every match and server is settled. Returns the broken promises. */
    settle: async (): Promise<readonly string[]> => {
      const studio = await live({ joins: false })
      let state: State | undefined
      const isSettled = ({ blockedBy, stopsPending, matches }: State) =>
        blockedBy === undefined && stopsPending === 0 && matches.every(({ phase }) => phase === 'running')
      const left = async () => {
        state = await studio.ask<State>({ kind: 'inspect' }, 'state')
        const running = state.matches.map(({ requestId }) => requestId)
        const living = (await deployments()).filter(isLiving)
        return { isDone: isSettled(state), living, orphans: living.filter((one) => !running.includes(one.request_id)) }
      }
      const deadline = systemClock.now() + 25_000
      let now = await left()
      while ((!now.isDone || now.orphans.length > 0) && systemClock.now() < deadline) {
        await systemClock.sleep(100)
        now = await left()
      }
      if (!now.isDone) wrong.push(`not settled: ${JSON.stringify(state)}`)
      for (const { request_id, tags } of now.orphans) wrong.push(`${request_id} (${tags.join()}) is nobody's`)
      const ids = new Set(now.living.map(({ request_id }) => request_id))
      for (const [matchId, requestId] of told)
        if (!ids.has(requestId)) wrong.push(`players of ${matchId} have lost ${requestId}`)

      told.clear()
      const { left: unconfirmed } = await studio.ask<{ readonly left: number }>({ kind: 'close' }, 'closed', 20_000)
      if (unconfirmed > 0) wrong.push(`${unconfirmed} stops were not confirmed`)
      await systemClock.sleep(500)
      for (const one of await deployments()) if (isLiving(one)) wrong.push(`${one.request_id} is left`)
      const store = await openStore({ path })
      for (const kind of ['server', 'match'])
        for (const { key } of store.records(kind, () => []).stored()) wrong.push(`the store still has ${kind} ${key}`)
      await store.close()
      await service.kill()
      await proxy.close()
      return wrong
    },
    /** Checks that no match has two living servers. */
    look: async () => {
      const tags = (await deployments()).filter(isLiving).map((one) => one.tags.find((tag) => tag.startsWith('match-')))
      const matches = tags.map((tag) => /^match-([a-z0-9]+)/.exec(tag ?? '')?.[1])
      if (new Set(matches).size < matches.length)
        wrong.push(`two living servers of one match: ${matches.toSorted().join()}`)
    },
  }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** Faults by name. Each lasts for a moment. */
const mishaps: Readonly<Record<string, (world: World, studio: Victim, ms: number) => Promise<void>>> = {
  'the backend is stopped': async (_, studio, ms) => {
    studio.signal('SIGSTOP')
    await systemClock.sleep(ms)
    studio.signal('SIGCONT')
  },
  'the service is stopped': async ({ service }, __, ms) => {
    service.signal('SIGSTOP')
    await systemClock.sleep(ms)
    service.signal('SIGCONT')
  },
  'the service refuses': async ({ proxy }, __, ms) => {
    proxy.turn('refused')
    await systemClock.sleep(ms)
    proxy.turn('fair')
  },
  'the service is a black hole': async ({ proxy }, __, ms) => {
    proxy.turn('black hole')
    await systemClock.sleep(ms)
    proxy.turn('fair')
  },
  'the disk is full': async (_, studio, ms) => {
    fillDisk(studio, true)
    await systemClock.sleep(ms)
    fillDisk(studio, false)
  },
  'a match is stopped': async ({ told }, studio) => {
    const [matchId] = told.keys()
    if (matchId === undefined) return
    told.delete(matchId)
    studio.process.send({ kind: 'stop', matchId })
  },
  nothing: async (_, __, ms) => systemClock.sleep(ms),
}

test(`a match survives kill -9, SIGSTOP, a lost service, a full disk and a wrong clock (seed ${seed})`, async () => {
  const world = await openWorld()
  const random = seededRandom(seed)
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const names = Object.keys(mishaps)
  for (let life = 0; life < LIVES; life++) {
    const studio = await world.live({ clockOffMs: pick(0, 0, -DAY_MS, DAY_MS) })
    // Some processes live until they have sent players to a server, others die before that.
    if (random() < 0.6) await studio.first('assigned')
    await systemClock.sleep(random() * 600)
    for (let mishap = pick(0, 1, 2); mishap > 0; mishap--)
      await mishaps[pick(...names)]?.(world, studio, 100 + random() * 900)
    // Kill the process in the middle of its work.
    const last = mishaps[pick(...names)]?.(world, studio, 300).catch(() => {})
    await systemClock.sleep(random() * 300)
    await studio.kill()
    await last
    await world.look()
  }
  expect(await world.settle()).toEqual([])
  // A run without matches would prove nothing.
  expect(world.sum.assigned).toBeGreaterThan(LIVES / 2)
  expect(world.sum.problems).toBeGreaterThan(0)
})

test('a full disk while servers get READY, followed by kill -9, loses no server', async () => {
  const world = await openWorld()
  const studio = await world.live()
  await systemClock.sleep(700)
  fillDisk(studio, true)
  await expect.poll(async () => (await studio.ask<State>({ kind: 'inspect' }, 'state')).blockedBy).toBe('store')
  // Servers become READY in this time.
  await systemClock.sleep(2000)
  const before = world.sum.assigned
  fillDisk(studio, false)
  await expect.poll(() => world.sum.assigned).toBeGreaterThan(before)
  await studio.kill()
  expect(await world.settle()).toEqual([])
})
