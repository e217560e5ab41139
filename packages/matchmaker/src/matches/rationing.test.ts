/** Servers are scarce in a small game. Compares who gets them with first come, first served on the same servers. */
import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

const SECOND = 1000
const TICK_MS = 250
const MATCHES_A_MINUTE = 12
const SERVERS = 4

interface Player {
  readonly id: string
  readonly ticket: string
  readonly size: number
  readonly since: number
}

interface Scene {
  readonly what: string
  readonly queue: QueueDefinition
  readonly players: number
  readonly parties: boolean
  readonly seeds: readonly number[]
  /** Number of servers that become free for each match that the arriving players could fill. */
  readonly share: number
  /** Number of players at the start, beyond those who get the first servers. Default: none. */
  readonly backlog?: number
  /** Number of minutes in which players arrive. Default 5. */
  readonly minutes?: number
  /** Average number of waiting players. Default: it grows without a limit. */
  readonly waiting?: number
}

const rules: QueueDefinition['rules'] = [
  { kind: 'difference', attribute: 'skill', max: 800 },
  { kind: 'distance', maxKm: 8000 },
]
const fives = { name: 'fives', teams: [{ name: 'team', count: 2, size: 5 }], rules, deploy } as const
const pairs = { name: 'pairs', matchSize: 2, rules, deploy } as const

const drawSize = (drawn: number) => (drawn < 0.6 ? 1 : drawn < 0.8 ? 2 : drawn < 0.9 ? 3 : drawn < 0.95 ? 4 : 5)

/** Lets players arrive for some minutes, while servers become free at regular intervals. */
async function play({ queue, players: perMatch, parties, share, backlog, minutes = 5 }: Scene, seed: number) {
  const random = seededRandom(seed)
  const { clock, matchmaker } = setUp({ queues: [queue], maxServers: SERVERS, maxStarting: SERVERS })
  const waiting = new Map<string, Player[]>()
  const all: Player[] = []
  const waited = new Map<string, number>()
  const begun: { readonly at: number; readonly players: number }[] = []
  const running: string[] = []
  matchmaker.on('matchFound', ({ matchId, tickets }) => {
    running.push(matchId)
    const members = tickets.flatMap(({ id }) => waiting.get(id) ?? [])
    for (const { id, since, ticket } of members) {
      waited.set(id, clock.now() - since)
      waiting.delete(ticket)
    }
    begun.push({ at: clock.now(), players: members.length })
  })
  const comeEveryMs = (60 * SECOND) / (MATCHES_A_MINUTE * perMatch)
  const freeEveryMs = (60 * SECOND) / (MATCHES_A_MINUTE * share)
  const start = clock.now()
  const end = start + minutes * 60 * SECOND
  let [comes, frees] = [start, start]
  if (backlog !== undefined) comes -= (SERVERS * perMatch + backlog) * comeEveryMs
  const counts: number[] = []
  while (clock.now() < end) {
    while (comes <= clock.now()) {
      const size = parties ? drawSize(random()) : 1
      const ticket = `t${waiting.size + waited.size}-${all.length}`
      const spread = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
      const attributes = { skill: 1500 + 150 * spread }
      const coordinates = { latitude: 40 + 15 * random(), longitude: 30 * random() }
      const own = Array.from({ length: size }, (_, nth) => ({ id: `${ticket}-${nth}`, attributes, coordinates }))
      waiting.set(
        ticket,
        own.map(({ id }) => ({ id, ticket, size, since: clock.now() })),
      )
      all.push(...(waiting.get(ticket) ?? []))
      matchmaker.createTicket({ id: ticket, queue: queue.name, players: own })
      comes += size * comeEveryMs
    }
    for (; frees <= clock.now(); frees += freeEveryMs) {
      const over = running.shift()
      if (over !== undefined) await matchmaker.stopMatch(over, { until: 'recorded' })
    }
    await matchmaker.tick()
    if (clock.now() - start > 30 * SECOND) counts.push([...waiting.values()].flat().length)
    await clock.advance(TICK_MS)
  }
  const oldest = Math.max(...waited.values(), ...[...waiting.values()].flat().map(({ since }) => clock.now() - since))
  return { counts, all, waited, oldestMs: oldest, inTurnMs: inTurn(all, begun, clock.now()) }
}

/** Returns the longest wait if the same servers had gone to the players in order of arrival. */
function inTurn(all: readonly Player[], begun: readonly { at: number; players: number }[], end: number): number {
  let [served, longest] = [0, 0]
  for (const { at, players } of begun) {
    const oldest = all[served]
    longest = Math.max(longest, at - (oldest?.since ?? at))
    served += players
  }
  return Math.max(longest, end - (all[served]?.since ?? end))
}

type Played = Awaited<ReturnType<typeof play>>

/** Returns the share of the counted players who were matched. */
function shareOf(runs: readonly Played[], isCounted: (player: Player) => boolean): number {
  const counted = runs.map(({ all, waited }) => ({ waited, players: all.filter(isCounted) }))
  const matched = counted.reduce((sum, one) => sum + one.players.filter(({ id }) => one.waited.has(id)).length, 0)
  return matched / counted.reduce((sum, { players }) => sum + players.length, 0)
}

/** As many players arrive as are served, so the number of waiting players stays the same. */
const SMALL = { share: 1, minutes: 2, waiting: 20 } as const

const scenes: readonly Scene[] = [
  { what: 'pairs', queue: pairs, players: 2, parties: false, seeds: [1, 2], share: 0.6 },
  { what: 'teams of five with parties', queue: fives, players: 10, parties: true, seeds: [1, 2], share: 0.6 },
  {
    ...SMALL,
    what: 'pairs, with 20 tickets waiting',
    queue: pairs,
    players: 2,
    parties: false,
    seeds: [1, 2],
    backlog: 17,
  },
  {
    ...SMALL,
    what: 'fives with parties, 20 tickets waiting',
    queue: fives,
    players: 10,
    parties: true,
    seeds: [1, 2],
    backlog: 4,
  },
  {
    what: 'fives, 3 servers for 10 matches',
    queue: fives,
    players: 10,
    parties: true,
    seeds: [1],
    share: 0.3,
  },
]

test.each(scenes)('if servers are scarce, the longest-waiting tickets get them: $what', async (scene) => {
  const runs: Played[] = []
  for (const seed of scene.seeds) runs.push(await play(scene, seed))
  for (const { counts } of scene.waiting === undefined ? [] : runs) {
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    expect(Math.abs(mean - (scene.waiting ?? 0))).toBeLessThan(1)
  }
  // The limit that decision 0124 promises.
  for (const { oldestMs, inTurnMs } of runs) expect(oldestMs).toBeLessThanOrEqual(1.14 * inTurnMs)
  const mean = shareOf(runs, () => true)
  for (const large of scene.parties ? [2, 3, 4, 5] : [])
    expect(Math.abs(shareOf(runs, ({ size }) => size === large) - mean)).toBeLessThan(0.1)
})

const ip = '198.51.100.7'
const limit = (max: number) => [{ kind: 'difference', attribute: 'skill', max }] as const
const duel: QueueDefinition = { name: 'duel', matchSize: 2, deploy, rules: limit(1000) }

test('in the first tick with too few servers, the oldest tickets get the servers, not the nearest pairs', async () => {
  const { clock, matchmaker, seen } = setUp({ queues: [duel], maxServers: 5, maxStarting: 5 })
  for (let at = 0; at < 40; at += 1) {
    // The skills of later tickets are closer and closer to each other.
    const players = [{ id: `p${at}`, ip, attributes: { skill: 1000 - 900 / (at + 1) } }]
    matchmaker.createTicket({ id: `t${at}`, queue: 'duel', players })
    await clock.advance(100)
  }
  await matchmaker.tick()
  const served = (seen.matchFound ?? []).flatMap(({ tickets }) => tickets.map(({ id }) => id))
  expect(served.toSorted()).toEqual(Array.from({ length: 10 }, (_, at) => `t${at}`))
})

test('a new ticket in a queue of mode `arrival` takes no server that older tickets wait for', async () => {
  const { clock, matchmaker, seen, run, status } = setUp({
    queues: [{ ...duel, mode: 'arrival' }],
    maxServers: 1,
    maxStarting: 1,
  })
  const come = (id: string) =>
    matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip, attributes: { skill: 1000 } }] })
  matchmaker.start()
  for (const id of ['ann', 'ben', 'cas', 'dee', 'eve', 'fay']) come(id)
  await run(10_000)
  expect(['ann', 'ben'].map(status)).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
  await matchmaker.stopMatch(seen.matchFound?.[0]?.matchId ?? '', { until: 'recorded' })
  for (let nth = 0; nth < 100; nth += 1) {
    come(`late${nth}`)
    await clock.advance(100)
  }
  const second = seen.matchFound?.[1]?.tickets.map(({ id }) => id)
  expect(second).toEqual(['cas', 'dee'])
  await clock.until(matchmaker.stop())
})

test('once a tick has a server for each match, the nearest pairs match again, not the oldest tickets', async () => {
  const queue: QueueDefinition = { ...duel, rules: limit(100) }
  const { matchmaker, seen, run } = setUp({ queues: [queue], maxServers: 1, maxStarting: 1 })
  const come = (id: string, skill: number) =>
    matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip, attributes: { skill } }] })
  for (const id of ['ann', 'ben', 'cas', 'dee']) come(id, 1000)
  await run(10_000)
  const end = (nth: number) => matchmaker.stopMatch(seen.matchFound?.[nth]?.matchId ?? '', { until: 'recorded' })
  await end(0)
  await run(20_000)
  expect(seen.matchFound?.[1]?.tickets.map(({ id }) => id)).toEqual(['cas', 'dee'])
  await end(1)
  await run(20_000)
  come('old', 1000)
  await run(5000)
  come('far', 1090)
  come('near', 1001)
  await run(250)
  expect(seen.matchFound?.[2]?.tickets.map(({ id }) => id)).toEqual(['old', 'near'])
})
