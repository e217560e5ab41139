/** Kills processes with many creates in flight. Their successors must clean up within the documented rate limits. */
import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator } from '@muster/emulator'
import type { DeploymentService, Matchmaker } from '@muster/matchmaker'
import { createMatchmakerOver, createMemoryServerLog } from '@muster/matchmaker/internal'
import type { ServerLog, HostingEntry } from '@muster/matchmaker/internal'
import { describe, expect, test, vi } from 'vitest'
import { publishGame } from './game.js'
import { createMortal, type Mortal } from './mortal.js'

vi.setConfig({ testTimeout: 90_000 })

/** The matchmaker's default. */
const LIST_LAG_MS = 5000
const STEP_MS = 250
const IN_FLIGHT = 200

interface World {
  readonly clock: ManualClock
  readonly emulator: Emulator
  readonly disk: ServerLog
  /** Where creates are lost: the request before it reaches the service, or the response. */
  lostOn: 'way there' | 'way back' | undefined
}

/** The effects of one process, read from its store. */
interface Life {
  readonly mortal: Mortal
  readonly matchmaker: Matchmaker
  readonly begunAt: number
  readonly counts: Partial<Record<HostingEntry['kind'], number>>
}

async function openWorld(): Promise<World> {
  const clock = createManualClock()
  const emulator = createEmulator({
    clock,
    random: seededRandom(1),
    page: false,
    latencyMs: 60,
    jitterMs: 40,
    deployTimes: { seekMs: 500, deployMs: 5000, cachedDeployMs: 5000, terminateMs: 1000, spread: 0.3 },
    deployments: { listLagMs: 3000 },
  })
  const dispatcher = inProcess((request) => emulator.fetch(request))
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock,
    random: seededRandom(1),
    dispatcher,
  })
  await clock.until(publishGame(client))
  await clock.until(client.close())
  return { clock, emulator, disk: createMemoryServerLog(), lostOn: undefined }
}

let players = 0
const never = <T>() => new Promise<T>(() => {})

/** Starts a process with players for more servers than may start at once. */
function begin(world: World, seed: number, joining = 2 * IN_FLIGHT + 20): Life {
  const counts: Life['counts'] = {}
  const disk: ServerLog = {
    open: () => world.disk.open(),
    append: (entries) => {
      for (const { kind } of entries) counts[kind] = (counts[kind] ?? 0) + 1
      return world.disk.append(entries)
    },
  }
  const mortal = createMortal({
    clock: world.clock,
    seed,
    disk,
    answer: (request) =>
      request.method === 'POST' && world.lostOn === 'way there' ? never() : world.emulator.fetch(request),
  })
  // Kill the process before it can handle the response.
  const create: DeploymentService['create'] = async (input, options) => {
    const answer = await mortal.deployments.create(input, options)
    return world.lostOn === 'way back' ? never() : answer
  }
  const matchmaker = createMatchmakerOver(
    {
      queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
      deployments: { ...mortal.deployments, create },
      clock: mortal.clock,
      random: seededRandom(seed + 1),
      maxStarting: IN_FLIGHT,
      maxCreatesInFlight: IN_FLIGHT,
    },
    () => mortal.serverLog,
  )
  for (let nth = 0; nth < joining; nth += 1) {
    matchmaker.createTicket({ queue: 'duel', players: [{ id: `p${(players += 1)}`, ip: '192.0.2.1' }] })
  }
  matchmaker.start()
  return { mortal, matchmaker, begunAt: world.clock.now(), counts }
}

const countOf = ({ counts }: Life, ...kinds: readonly HostingEntry['kind'][]) =>
  kinds.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)

/** Moves the clock until a condition holds. Returns the milliseconds since the process began. */
async function until({ clock }: World, { begunAt }: Life, isSo: () => boolean, mostMs = 60_000): Promise<number> {
  while (!isSo() && clock.now() - begunAt < mostMs) await clock.advance(STEP_MS)
  return clock.now() - begunAt
}

const undecided = ({ matchmaker }: Life) =>
  matchmaker.inspect().matches.filter(({ phase }) => phase === 'finding').length

/** Kills a process that has sent the maximum number of concurrent creates and got no response. */
async function killAmidCreates(world: World, lostOn: World['lostOn']): Promise<void> {
  world.lostOn = lostOn
  const life = begin(world, 1)
  const created = () => world.emulator.inspect().deployments.length
  await until(world, life, () => created() === IN_FLIGHT, 8000)
  expect([countOf(life, 'sent'), created()]).toEqual([IN_FLIGHT, lostOn === 'way back' ? IN_FLIGHT : 0])
  life.mortal.kill()
  world.lostOn = undefined
}

/** Returns the servers that the last process does not know. It must clean up those of earlier processes. */
async function orphans(world: World): Promise<readonly string[]> {
  const last = begin(world, 99, 0)
  await until(world, last, () => false, 20_000)
  const known = new Set(last.matchmaker.inspect().matches.map(({ requestId }) => requestId))
  last.mortal.kill()
  const { deployments } = world.emulator.inspect()
  return deployments
    .filter(({ current_status }) => current_status !== 'Status.TERMINATED')
    .map(({ request_id }) => request_id)
    .filter((id) => !known.has(id))
}

test.each(['way there', 'way back'] as const)(
  'after 200 creates lost on the %s and a kill, the next process finds out the outcome of each',
  async (lostOn) => {
    const world = await openWorld()
    await killAmidCreates(world, lostOn)
    const life = begin(world, 3)
    const firstMatch = await until(world, life, () => countOf(life, 'sent') > 0)
    expect(firstMatch).toBeLessThanOrEqual(LIST_LAG_MS + 3000)
    const decided = await until(world, life, () => undecided(life) === 0)
    expect(decided).toBeLessThanOrEqual(15_000)
    await until(world, life, () => countOf(life, 'playing') >= IN_FLIGHT / 2)
    life.mortal.kill()
    expect(await orphans(world)).toEqual([])
  },
)

test('after 200 unsent creates and a kill, the next process searches for no server and goes on at once', async () => {
  const world = await openWorld()
  for (let nth = 0; nth < IN_FLIGHT; nth += 1) {
    const of = { queue: 'duel', at: 0, serverId: `m${nth}` }
    await world.disk.append([
      { ...of, kind: 'match', matchId: `m${nth}`, ticketIds: [], playerIds: [] },
      { ...of, kind: 'server', tag: `match-m${nth}`, bornFor: `m${nth}` },
    ])
  }
  const life = begin(world, 3)
  expect(await until(world, life, () => countOf(life, 'sent') > 0)).toBeLessThanOrEqual(500)
  expect(undecided(life)).toBe(0)
  life.mortal.kill()
})

describe('each process in a crash loop', () => {
  test.each([
    { lifeMs: 2000, lives: 5, lostOn: 'way back' },
    { lifeMs: 2000, lives: 5, lostOn: 'way there' },
  ] as const)(
    'processes killed every $lifeMs ms make progress, after creates lost on the $lostOn',
    async ({ lifeMs, lives, lostOn }) => {
      const world = await openWorld()
      await killAmidCreates(world, lostOn)
      const done: number[] = []
      let created = 0
      for (let nth = 0; nth < lives; nth += 1) {
        const life = begin(world, 10 + nth)
        await until(world, life, () => false, lifeMs)
        life.mortal.kill()
        done.push(countOf(life, 'sent', 'created', 'gone', 'playing'))
        created += countOf(life, 'sent')
      }
      // A create that never reached the service counts as absent once the list would have shown its deployment.
      const mayBeIdle = lostOn === 'way there' ? Math.floor(LIST_LAG_MS / lifeMs) : 0
      expect(done.slice(mayBeIdle).filter((count) => count === 0)).toEqual([])
      expect(created).toBeGreaterThan(IN_FLIGHT)
      expect(await orphans(world)).toEqual([])
    },
  )
})
