import { InvalidQueue, type QueueDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { CROWD_FORMAT, type Crowd, type CrowdParty, type CrowdVisit } from '../crowd/crowd.js'
import { duel, europeans } from './run-crowd.fixture.js'
import { runCrowd } from './run-crowd.js'

const pair = { name: 'pair', matchSize: 2, deploy: duel.deploy } satisfies QueueDefinition

/** Parties of one player each. */
const crowdOf = (...parties: readonly (Partial<CrowdParty> & { readonly visits: readonly CrowdVisit[] })[]): Crowd => ({
  header: { format: CROWD_FORMAT, startsAt: 0, durationMs: 60_000 },
  parties: parties.map((party, index) => ({
    id: `g${index}`,
    at: 0,
    players: [{ id: `p${index}`, coordinates: { latitude: 50, longitude: 10 } }],
    ...party,
  })),
})
const visit = { patienceMs: 10_000, playMs: 20_000 }

describe('a run of a crowd', () => {
  test('a run of a crowd reports what happened to each ticket, match and server', async () => {
    const crowd = crowdOf(
      { visits: [{ ...visit, playMs: 30_000, breakMs: 5000 }, visit] },
      { at: 1000, visits: [visit] },
    )
    const { tickets, matches, servers, requests, endedAt } = await runCrowd(crowd, [pair])
    expect(tickets).toEqual([
      { party: 0, visit: 0, createdAt: 0, end: 'assigned', endedAt: 6000, matchedAt: 1000, match: 0, team: 'team' },
      { party: 1, visit: 0, createdAt: 1000, end: 'assigned', endedAt: 6000, matchedAt: 1000, match: 0, team: 'team' },
      { party: 0, visit: 1, createdAt: 41_000, end: 'gaveUp', endedAt: 51_000 },
    ])
    expect(matches).toEqual([{ queue: 'pair', foundAt: 1000, assignedAt: 6000, tickets: [0, 1] }])
    expect(servers).toEqual({ created: 1, most: 1, seconds: 35, bootSeconds: 5, idleSeconds: 0 })
    expect(requests).toEqual({
      create: { total: 1, busiest: 1, limit: 40, windowMs: 1000 },
      stop: { total: 1, busiest: 0 },
    })
    expect(endedAt).toBe(51_000)
  })

  test('parties in a run can decline, wait during deployment, and leave if the match fails too late', async () => {
    const asking = { ...pair, acceptance: { withinMs: 5000 } }
    const crowd = crowdOf(
      { visits: [{ ...visit, patienceMs: 1000 }] },
      { at: 900, visits: [{ ...visit, accepts: false }] },
      { at: 950, visits: [visit] },
    )
    const { tickets } = await runCrowd(crowd, [asking], { startMs: 30_000 })
    expect(tickets.map(({ end, endedAt }) => [end, endedAt])).toEqual([
      ['gaveUp', 1000],
      ['declined', 1000],
      ['gaveUp', 10_950],
    ])
    const patient = crowdOf({ visits: [{ ...visit, patienceMs: 1000 }] }, { visits: [visit] })
    const stayed = await runCrowd(patient, [asking], { startMs: 30_000 })
    expect(stayed.tickets.map(({ end, endedAt }) => [end, endedAt])).toEqual([
      ['assigned', 30_000],
      ['assigned', 30_000],
    ])
  })

  test('a party that names no queue waits in those that it fits into, and is refused if there is none', async () => {
    const trio = { name: 'trio', matchSize: 3, deploy: pair.deploy }
    const party = (size: number, name: string) => ({
      players: Array.from({ length: size }, (_, index) => ({ id: `${name}${index}`, ip: '192.0.2.1' })),
      visits: [visit],
    })
    const { tickets, matches } = await runCrowd(crowdOf(party(3, 'a'), party(4, 'b')), [pair, trio])
    expect(tickets.map(({ end, refusal }) => [end, refusal])).toEqual([
      ['assigned', undefined],
      ['refused', expect.stringContaining('a party of 4 is too big')],
    ])
    expect(matches.map(({ queue }) => queue)).toEqual(['trio'])
  })

  test('a run reports why a ticket was refused: invalid for its queue, an unknown queue, or a cooldown', async () => {
    const rated = { ...pair, rules: [{ kind: 'difference', attribute: 'skill', max: 5 }] } as const
    const cooled = { ...pair, name: 'cooled', acceptance: { withinMs: 1000 }, cooldown: { firstMs: 60_000 } }
    const refused = await runCrowd(crowdOf({ visits: [visit] }, { queues: ['gone'], visits: [visit] }), [rated])
    expect(refused.tickets.map(({ end, refusal }) => [end, refusal])).toEqual([
      ['refused', expect.stringContaining('skill')],
      ['refused', 'the party wants none of the queues of this run'],
    ])
    const declining = crowdOf({ visits: [{ ...visit, accepts: false, breakMs: 1000 }, visit] }, { visits: [visit] })
    const { tickets } = await runCrowd(declining, [cooled])
    expect(tickets.find((ticket) => ticket.visit === 1)).toMatchObject({
      end: 'refused',
      refusal: expect.stringMatching(/may not wait|cool/i),
    })
  })

  test('players in a run can leave at any moment, even between two ticks', async () => {
    const hasty = { visits: [{ patienceMs: 10_000, playMs: 100 }] }
    const { servers, endedAt } = await runCrowd(crowdOf(hasty, hasty), [pair], { tickMs: 1000, startMs: 700 })
    expect(servers).toEqual({ created: 1, most: 1, seconds: 0.8, bootSeconds: 0.7, idleSeconds: 0 })
    expect(endedAt).toBe(800)
  })

  test('a run ends for any crowd', async () => {
    const year = 365 * 86_400_000
    const patient = crowdOf({ visits: [{ patienceMs: year, playMs: year }] })
    const queue = { ...pair, expireAfterMs: 2 * 86_400_000 }
    const { tickets, endedAt, servers } = await runCrowd(patient, [queue], { tickMs: 60_000 })
    expect(tickets).toEqual([{ party: 0, visit: 0, createdAt: 0, end: 'waiting' }])
    expect(endedAt).toBe(60_000 + 86_400_000)
    expect(servers.created).toBe(0)
    const tireless = { visits: [{ patienceMs: 1, playMs: year }] }
    const playing = crowdOf(tireless, tireless)
    const played = await runCrowd(playing, [{ ...pair, deploy: { ...pair.deploy, maxDurationMs: 60_000 } }])
    expect(played.servers).toEqual({ created: 1, most: 1, seconds: 65, bootSeconds: 5, idleSeconds: 0 })
  })

  test('a run decides matches by ratings, which tickets then contain', async () => {
    const asked: string[] = []
    const ratings = {
      queued: (players: readonly { readonly id: string }[]) => {
        asked.push(...players.map(({ id }) => id))
        return players.map(() => ({ mu: 25, sigma: 8, rating: 1 }))
      },
      played: (teams: readonly { readonly name: string }[]) => teams.map(({ name }) => name).toReversed(),
    }
    const duels = { ...duel, rules: [{ kind: 'difference', attribute: 'mu', max: 1 }] } as const
    const { matches } = await runCrowd(crowdOf({ visits: [visit] }, { visits: [visit] }), [duels], {
      ratings: ratings as never,
    })
    expect(asked).toEqual(['p0', 'p1'])
    expect(matches.map(({ ranking }) => ranking)).toEqual([['side-2', 'side-1']])
  })

  test('a run reports its progress, and ends when it is aborted', async () => {
    const shares: number[] = []
    await runCrowd(crowdOf({ visits: [visit] }), [pair], { progressed: (share) => shares.push(share) })
    expect(shares.at(-1)).toBe(1)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(runCrowd(europeans(20, 1), [duel], { signal })).rejects.toThrow('enough')
  })

  test.each([
    ['crowd: has no parties', crowdOf(), [pair], {}],
    ['crowd: party 0 needs players, visits, and times that are milliseconds', crowdOf({ visits: [] }), [pair], {}],
    ['crowd: party 0 needs players, visits, and times', crowdOf({ at: Number.NaN, visits: [visit] }), [pair], {}],
    ['queues: must be a list of at least one queue', crowdOf({ visits: [visit] }), [], {}],
    ['two queues have the name "pair"', crowdOf({ visits: [visit] }), [pair, pair], {}],
    ['option tickMs: must be at least 1, got 0', crowdOf({ visits: [visit] }), [pair], { tickMs: 0 }],
    ['must be less than readyTimeoutMs of queue "pair"', crowdOf({ visits: [visit] }), [pair], { startMs: 180_000 }],
    ['option fast: is not known', crowdOf({ visits: [visit] }), [pair], { fast: true }],
  ])('a run refuses invalid options with the error “%s”', async (words, crowd, queues, options: object) => {
    await expect(runCrowd(crowd, queues, options)).rejects.toThrow(words)
    await expect(runCrowd(crowd, [{ ...pair, matchSize: 0 }])).rejects.toBeInstanceOf(InvalidQueue)
  })
})
