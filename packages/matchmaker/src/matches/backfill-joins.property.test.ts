import { seededRandom } from '@muster/core/clock'
import { middleOf } from '@muster/core/internal'
import { networkOf } from '@muster/hosting/internal'
import { expect, test } from 'vitest'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { RuleTicket } from '../queues/rule-parts/rule-types.js'
import type { RuleDefinition } from '../queues/rules/definition.js'
import { brokenRules } from '../queues/rules/oracle.fixture.js'
import { complete } from '../tickets/checked-ticket.js'

/**
 * Checks who joins a running match. The oracle of the rules tries each waiting player in each team. It must allow every
 * join, and must not find an allowed join among those who still wait. `require` concerns only a ticket's own value and
 * wait, so it no longer applies to players in the match. The distance counts between a newcomer and each player in the
 * match.
 */

const TICK_MS = 250
const PLAYS_FROM_MS = 7000
const ENDS_MS = 15_000
/** Maximum number of waiting players. No match can begin with fewer than six. */
const NEWCOMERS = 5
const SIDES = ['side-1', 'side-2']

/** A running match with free places, in the oracle's form. */
interface Running {
  readonly backfillId: string
  readonly teams: { readonly kind: string; tickets: readonly RuleTicket[] }[]
}

async function play(seed: number) {
  const random = seededRandom(seed)
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const by = () => oneOf(['each', 'each', 'youngest', 'oldest'] as const)
  const relaxing = (...values: readonly number[]) =>
    values.map((value, at) => ({ afterMs: [0, 1500, 4000][at] ?? 0, value }))
  const level: RuleDefinition = {
    kind: 'require',
    attribute: 'level',
    operator: '>=',
    value: relaxing(4, 2, 1),
    by: by(),
  }
  const mode: RuleDefinition = { kind: 'require', attribute: 'mode', operator: '=', value: 'a', optionalAfterMs: 1500 }
  const missing = oneOf(['network', 'any'] as const)
  const distance: RuleDefinition = { kind: 'distance', maxKm: relaxing(400, 800, 1200), by: by(), missing }
  const rules = oneOf([[level], [distance], [level, distance], [mode, distance], [level, mode, distance]])
  const queue: QueueDefinition = { name: 'q', teams: [{ name: 'side', count: 2, size: 3 }], rules, deploy }
  const { clock, matchmaker } = setUp({ queues: [queue] })
  const start = clock.now()

  const tickets = new Map<string, RuleTicket>()
  const player = (id: string) => {
    const attributes = { level: oneOf([1, 2, 4, 5]), mode: oneOf(['a', 'b']) }
    // Players without a location can meet only players of the same network.
    const longitude = oneOf([0, 4, 9, 14, 30, undefined])
    const ip = oneOf(['198.51.100.7', '203.0.113.7'])
    return { id, ip, attributes, ...(longitude !== undefined && { coordinates: { latitude: 45, longitude } }) }
  }
  const ticketOf = (id: string, given: readonly ReturnType<typeof player>[], createdAt: number): RuleTicket => ({
    id,
    createdAt,
    priority: 0,
    players: given.map(complete),
    place: middleOf(given.flatMap(({ coordinates }) => coordinates ?? [])),
    network: networkOf(given),
  })

  // Start matches of given players, to which rules do not apply.
  await matchmaker.tick()
  const runnings = new Map<string, Running>()
  for (const id of ['x', 'y']) {
    const sides = SIDES.map((name) => ({
      name,
      players: Array.from({ length: oneOf([1, 2]) }, (_, at) => player(`${id}-${name}-${at}`)),
    }))
    const made = matchmaker.createMatch({
      id,
      queue: 'q',
      teams: sides,
    })
    // Limits between a newcomer and the match follow the waiting time of the backfill.
    const teams = sides.map(({ name, players }) => ({
      kind: 'side',
      tickets: [ticketOf(`${id}-${name}`, players, start + PLAYS_FROM_MS)],
    }))
    runnings.set(made.tickets[0]?.matchId ?? '', { backfillId: `b-${id}`, teams })
  }

  const joined: string[] = []
  const forbidden: string[] = []
  const missed: string[] = []
  const broken = ({ teams }: Running, newcomers: readonly RuleTicket[], side: number) =>
    brokenRules(
      queue,
      teams.map((team, at) => (at === side ? { ...team, tickets: [...team.tickets, ...newcomers] } : team)),
      clock.now(),
      teams.flatMap((team) => team.tickets),
    )
  matchmaker.on('backfillJoined', ({ matchId, tickets: some }) => {
    const running = runnings.get(matchId) as Running
    const newcomers = some.flatMap(({ id }) => tickets.get(id) ?? [])
    // No rule of this test is about teams.
    for (const rule of broken(running, newcomers, 0))
      forbidden.push(`${some.map(({ id }) => id).join()} into ${matchId}: ${rule}`)
    for (const { id, team } of some) {
      const side = running.teams[SIDES.indexOf(team ?? '')] as Running['teams'][number]
      side.tickets = [...side.tickets, { ...(tickets.get(id) as RuleTicket), createdAt: start + PLAYS_FROM_MS }]
      tickets.delete(id)
      joined.push(id)
    }
  })

  const comes = Array.from({ length: NEWCOMERS }, () => start + Math.floor((random() * (ENDS_MS - 4000)) / 100) * 100)
  let before = new Set<string>()
  while (clock.now() < start + ENDS_MS) {
    for (const [nth, at] of comes.entries()) {
      const id = `n${nth}`
      if (at > clock.now() || at <= clock.now() - TICK_MS) continue
      const one = player(id)
      matchmaker.createTicket({ id, queue: 'q', players: [one] })
      tickets.set(id, ticketOf(id, [one], clock.now()))
    }
    if (clock.now() === start + PLAYS_FROM_MS)
      for (const [matchId, { backfillId }] of runnings) matchmaker.createBackfill({ id: backfillId, matchId })
    await matchmaker.tick()
    const possible = new Set<string>()
    for (const [matchId, running] of runnings) {
      if (matchmaker.getBackfill(running.backfillId)?.status !== 'OPEN') continue
      for (const ticket of tickets.values())
        if (broken(running, [ticket], 0).length === 0) possible.add(`${ticket.id} into ${matchId}`)
    }
    // An allowed join that was not made within two ticks was missed.
    for (const join of possible) if (before.has(join)) missed.push(join)
    before = possible
    await clock.advance(TICK_MS)
  }
  return { joined: joined.length, waiting: tickets.size, forbidden, missed }
}

test('property: only eligible players join a running match, and they do so within two ticks', async () => {
  let [joined, waiting] = [0, 0]
  for (let seed = 1; seed <= 12; seed += 1) {
    const played = await play(seed)
    expect({ seed, missed: played.missed, forbidden: played.forbidden }).toEqual({ seed, missed: [], forbidden: [] })
    joined += played.joined
    waiting += played.waiting
  }
  // A run without joins, or without players who must not join, would prove nothing.
  expect(joined).toBeGreaterThan(30)
  expect(waiting).toBeGreaterThan(8)
})
