import type { QueueDefinition } from '@muster/matchmaker'
import {
  brokenRules,
  kinds,
  queues,
  tickets,
  wrongSizes,
  type JudgedTeam,
  type RuleTicket,
} from '@muster/matchmaker/rules-oracle'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CROWD_FORMAT, type Crowd, type CrowdParty, type CrowdVisit } from '../crowd/crowd.js'
import type { MatchOutcome, RunOutcome } from './outcome.js'
import { runCrowd } from './run-crowd.js'

const PLACE = { latitude: 50, longitude: 10 }
const START = 1_000_000
const PACE = { tickMs: 500, startMs: 700 }

const visit: fc.Arbitrary<CrowdVisit> = fc.record({
  patienceMs: fc.integer({ min: 0, max: 4000 }),
  accepts: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  playMs: fc.integer({ min: 0, max: 2000 }),
  breakMs: fc.integer({ min: 0, max: 1000 }),
})

/** Generates what parties do, besides their tickets. */
const doings = fc.array(fc.record({ at: fc.nat(3000), visits: fc.array(visit, { minLength: 1, maxLength: 2 }) }), {
  minLength: 8,
  maxLength: 8,
})

const crowdOf = (drafts: readonly RuleTicket[], all: readonly Pick<CrowdParty, 'at' | 'visits'>[]): Crowd => ({
  header: { format: CROWD_FORMAT, startsAt: START, durationMs: 6000 },
  parties: drafts.map(({ id, players, place = PLACE, priority }, index) => ({
    id,
    priority,
    players: players.map((player) => ({ ...player, coordinates: place })),
    ...(all[index] as Pick<CrowdParty, 'at' | 'visits'>),
  })),
})

const partyIn = ({ parties }: Crowd, index: number) => parties[index] as CrowdParty

/** Returns the match in the oracle's form, at the time when it was found. */
function judged(match: MatchOutcome, { tickets: all }: RunOutcome, crowd: Crowd, queue: QueueDefinition): JudgedTeam[] {
  const teams = new Map<string, RuleTicket[]>()
  for (const index of match.tickets) {
    const { party, createdAt, team = '' } = all[index] as RunOutcome['tickets'][number]
    const { id, players, priority = 0 } = partyIn(crowd, party)
    const seen = players.map(({ attributes = {}, roles = [], latencies = {}, avoid = [], ...player }) => ({
      id: player.id,
      attributes,
      roles,
      latencies,
      avoid,
    }))
    const place = players[0]?.coordinates
    const ticket = { id, priority, createdAt, players: seen, place, network: undefined }
    teams.set(team, [...(teams.get(team) ?? []), ticket])
  }
  const kindOf = (team: string) =>
    queue.teams?.find(({ name }) => team === name || team.startsWith(`${name}-`))?.name ?? ''
  return Array.from(teams, ([team, inTeam]) => ({ kind: kindOf(team), tickets: inTeam }))
}

/** Returns the time at which the visit of a ticket ended. */
function overAt(crowd: Crowd, { end, endedAt = Number.NaN, party, visit: nth }: RunOutcome['tickets'][number]): number {
  return end === 'assigned' ? endedAt + (partyIn(crowd, party).visits[nth]?.playMs ?? Number.NaN) : endedAt
}

test('each match of a run obeys the rules of its queue, and no player is lost or duplicated (property)', async () => {
  let matches = 0
  await fc.assert(
    fc.asyncProperty(
      queues(kinds, 2),
      fc.constantFrom('tick', 'arrival'),
      fc.constantFrom(undefined, { withinMs: 1000 }),
      tickets(8),
      doings,
      async (plain, mode, acceptance, drafts, all) => {
        const queue = { ...plain, mode, acceptance } as const
        const crowd = crowdOf(drafts, all)
        const outcome = await runCrowd(crowd, [queue], { ...PACE })
        matches += outcome.matches.length
        expect(await runCrowd(crowd, [queue], { ...PACE })).toEqual(outcome)
        expect(outcome.matches.flatMap((match) => faultsOf(match, outcome, crowd, queue))).toEqual([])
        expectConserved(crowd, outcome)
        expectPatience(crowd, outcome, acceptance !== undefined)
        expectServers(crowd, outcome, acceptance !== undefined)
        const solo = { name: 'solo', matchSize: 1, deploy: plain.deploy }
        const other = await runCrowd(crowd, [solo], { ...PACE, seed: 2 })
        expect(firstVisits(other)).toEqual(firstVisits(outcome))
      },
    ),
    { numRuns: 20 },
  )
  expect(matches).toBeGreaterThan(8)
})

function faultsOf(match: MatchOutcome, outcome: RunOutcome, crowd: Crowd, queue: QueueDefinition): string[] {
  const teams = judged(match, outcome, crowd, queue)
  return [...brokenRules(queue, teams, match.foundAt), ...wrongSizes(queue, teams, match.foundAt)]
}

const firstVisits = ({ tickets: all }: RunOutcome) =>
  all.filter((ticket) => ticket.visit === 0).map(({ party, createdAt }) => [party, createdAt])

/**
 * Checks that each visit of each party has exactly one ticket, later than that of the previous visit, and that matches
 * and tickets name each other.
 */
function expectConserved(crowd: Crowd, { tickets: all, matches }: RunOutcome): void {
  for (const [party, { at, visits }] of crowd.parties.entries()) {
    let expectedAt = at
    const own = all.filter((ticket) => ticket.party === party)
    expect(own.map((ticket) => ticket.visit)).toEqual(visits.map((_, index) => index))
    for (const ticket of own) {
      expect(ticket.createdAt).toBe(expectedAt)
      expect(ticket.end).not.toBe('waiting')
      expectedAt = overAt(crowd, ticket) + (visits[ticket.visit]?.breakMs ?? 0)
    }
  }
  const assigned = all.flatMap(({ match }, index) => (match === undefined ? [] : [[match, index]]))
  const said = matches.flatMap(({ tickets: inMatch }, match) => inMatch.map((index) => [match, index]))
  expect(said.toSorted()).toEqual(assigned.toSorted())
}

function expectPatience(crowd: Crowd, { tickets: all }: RunOutcome, isAsked: boolean): void {
  for (const { end, party, visit: nth, createdAt, endedAt = 0 } of all) {
    const { patienceMs = 0 } = partyIn(crowd, party).visits[nth] ?? {}
    // If a ticket's match failed, the players' patience may have run out meanwhile.
    if (end === 'gaveUp' && isAsked) expect(endedAt - createdAt).toBeGreaterThanOrEqual(patienceMs)
    else if (end === 'gaveUp') expect(endedAt - createdAt).toBe(patienceMs)
  }
}

/** Checks that each server runs from its create until its last player has left, and that none is left. */
function expectServers(crowd: Crowd, { tickets: all, matches, servers }: RunOutcome, isAsked: boolean): void {
  expect(servers.created).toBe(matches.length)
  if (isAsked) return
  const ran = matches.map(({ foundAt, tickets: inMatch }) => {
    return Math.max(...inMatch.map((index) => overAt(crowd, all[index] as RunOutcome['tickets'][number]))) - foundAt
  })
  expect(servers.seconds).toBeCloseTo(ran.reduce((sum, ms) => sum + ms, 0) / 1000, 6)
}
