import { greatCircleKm } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { generateCrowd } from './generate-crowd.js'
import { parametersSchema } from './parameters.js'

const defaults = parametersSchema.parse({})
const crowd = generateCrowd({ players: 12_000, beacons: [] }, 7)
const parties = crowd.parties
const players = parties.flatMap((party) => party.players)
const visits = parties.flatMap((party) => party.visits)

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const deviation = (values: readonly number[]) => {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}
const correlation = (pairs: readonly (readonly [number, number])[]) => {
  const [xs, ys] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)]
  const [x0, y0] = [mean(xs), mean(ys)]
  return mean(pairs.map(([x, y]) => (x - x0) * (y - y0))) / (deviation(xs) * deviation(ys))
}
const shareOf = <T>(values: readonly T[], holds: (value: T) => boolean) => values.filter(holds).length / values.length
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(share * values.length)] as number

/** Checks that a share of `many` values is within four standard errors of the expected share. */
const expectShare = (share: number, expected: number, many: number) =>
  expect(Math.abs(share - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / many) + 1e-9)

const skillOf = ({ attributes }: (typeof players)[number]) => attributes?.['skill'] as number
const truthOf = ({ truth }: (typeof players)[number]) => truth as number

describe('a generated crowd', () => {
  test('a generated crowd has party sizes by their weights', () => {
    const total = defaults.parties.sizes.reduce((sum, weight) => sum + weight, 0)
    for (const [index, weight] of defaults.parties.sizes.entries()) {
      const share = shareOf(parties, (party) => party.players.length === index + 1)
      expectShare(share, weight / total, parties.length)
    }
    expect(players).toHaveLength(12_000)
    expect(new Set(players.map(({ id }) => id)).size).toBe(12_000)
  })

  test('a generated crowd has normally distributed skill, similar within a party, and visible with an error', () => {
    const truths = players.map(truthOf)
    expect(mean(truths)).toBeCloseTo(1500, -1.3)
    expect(deviation(truths) / 350).toBeCloseTo(1, 1.5)
    // In a normal distribution, 68 % are within one standard deviation and 95 % within 1.96.
    expectShare(
      shareOf(truths, (truth) => Math.abs(truth - 1500) < 350),
      0.6827,
      6000,
    )
    expectShare(
      shareOf(truths, (truth) => Math.abs(truth - 1500) < 686),
      0.95,
      6000,
    )
    const errors = players.map((player) => skillOf(player) - truthOf(player))
    expect([Math.abs(mean(errors)) < 3, Math.abs(deviation(errors) - 80) < 2.5]).toEqual([true, true])
    const pairs = parties.flatMap(({ players: [one, other] }) =>
      one === undefined || other === undefined ? [] : [[truthOf(one), truthOf(other)] as const],
    )
    expect(Math.abs(correlation(pairs) - 0.5)).toBeLessThan(0.06)
    // Parties that are adjacent in the file or were created one after another must be independent.
    const neighbours = parties.slice(1).map(({ players: [one] }, index) => {
      const before = parties[index]?.players[0]
      return [truthOf(one as (typeof players)[number]), truthOf(before as (typeof players)[number])] as const
    })
    expect(Math.abs(correlation(neighbours))).toBeLessThan(0.05)
  })

  test('a generated crowd has regions, platforms and roles by their weights', () => {
    const { platforms, roles } = defaults
    expect(Object.keys(platforms)).toHaveLength(4)
    const first = parties.map((party) => party.players[0])
    for (const [name, weight] of Object.entries(platforms)) {
      expectShare(
        shareOf(first, (player) => player?.attributes?.['platform'] === name),
        weight / 100,
        first.length,
      )
    }
    const many = (count: number) => shareOf(players, (player) => player.roles?.length === count)
    expectShare(many(3), roles.any, players.length)
    expectShare(many(2), (1 - roles.any) * roles.flexible, players.length)
    const one = players.filter((player) => player.roles?.length === 1)
    expectShare(
      shareOf(one, (player) => player.roles?.[0] === 'tank'),
      0.16,
      one.length,
    )
    // A whole day, so that the daily curve affects all regions equally and only their weights count.
    expectShare(
      shareOf(first, (player) => player?.region === 'Europe'),
      0.34,
      first.length,
    )
    expectShare(
      shareOf(first, (player) => player?.region === 'Oceania'),
      0.03,
      first.length,
    )
  })

  test('a generated crowd is small at night and large in the evening, by local time', () => {
    const hours = new Array<number>(24).fill(0)
    for (const { at, players: of } of parties) {
      if (of[0]?.region !== 'Europe') continue
      // Greenwich is an hour or two behind most of Europe, which flattens the curve a little.
      const hour = (Math.floor(at / 3_600_000) + 1) % 24
      hours[hour] = (hours[hour] ?? 0) + 1
    }
    const [night, evening] = [(hours[4] ?? 0) + (hours[5] ?? 0), (hours[19] ?? 0) + (hours[20] ?? 0)]
    expect(evening / night).toBeGreaterThan(6)
    expect(evening / night).toBeLessThan(14)
  })

  test('a generated crowd has the given median patience, and a hazard that grows with the wait', () => {
    const { medianMs, shape } = defaults.patience
    const waits = visits.map(({ patienceMs }) => patienceMs)
    expectShare(
      shareOf(waits, (ms) => ms > medianMs),
      0.5,
      waits.length,
    )
    expectShare(
      shareOf(waits, (ms) => ms > 2 * medianMs),
      0.5 ** (2 ** shape),
      waits.length,
    )
    const hazard = (fromMs: number) => {
      const waiting = waits.filter((ms) => ms >= fromMs)
      return shareOf(waiting, (ms) => ms < fromMs + 60_000)
    }
    expect(hazard(60_000)).toBeGreaterThan(hazard(0))
    expect(hazard(300_000)).toBeGreaterThan(hazard(60_000))
  })

  test('a generated crowd has the given shares of declining, leaving early and returning', () => {
    expectShare(
      shareOf(visits, ({ accepts }) => accepts === false),
      0.02,
      visits.length,
    )
    const early = generateCrowd({ players: 4000, beacons: [], play: { spread: 0, leaveEarly: 0.2 } }, 7)
    const plays = early.parties.flatMap((party) => party.visits.map(({ playMs }) => playMs))
    expectShare(
      shareOf(plays, (ms) => ms < 1_200_000),
      0.2,
      plays.length,
    )
    expect(Math.max(...plays)).toBe(1_200_000)
    // Most of those who arrive in the first hours have time for all their visits.
    const soon = parties.filter(({ at }) => at < 6 * 3_600_000)
    expectShare(
      shareOf(soon, (party) => party.visits.length === 1),
      0.25 * 0.8,
      soon.length,
    )
    const breaks = visits.flatMap(({ breakMs }) => (breakMs === undefined || breakMs > 1_000_000 ? [] : breakMs))
    expect(quantile(breaks, 0.5) / 45_000).toBeCloseTo(1, 1)
    for (const { at, visits: own } of parties) {
      const begins = own.slice(0, -1).reduce((ms, { playMs, breakMs = Infinity }) => ms + playMs + breakMs, at)
      expect(begins).toBeLessThan(crowd.header.durationMs)
    }
  })

  test('a generated crowd has latencies that grow with the distance, plus the latency of each player’s line', () => {
    const few = generateCrowd({ players: 400 }, 7).parties.flatMap((party) => party.players)
    const { beacons, latency } = defaults
    for (const beacon of beacons) {
      const rest = few.map(({ coordinates = beacon, latencies }) => {
        const ms = latencies?.[beacon.name] ?? 0
        expect(Number.isInteger(ms) && ms >= 1).toBe(true)
        return ms - latency.perKmMs * greatCircleKm(coordinates, beacon)
      })
      // The line's median is 10 ms. Jitter adds 2 or 3 ms.
      expect(quantile(rest, 0.5)).toBeGreaterThan(10.5)
      expect(quantile(rest, 0.5)).toBeLessThan(15)
      expect(Math.min(...rest)).toBeGreaterThan(0)
    }
  })
})

test('members of a generated party live in one region, and most of them in one city', () => {
  const several = parties.filter((party) => party.players.length > 1)
  expect(several.every(({ players: of }) => new Set(of.map(({ region }) => region)).size === 1)).toBe(true)
  const isNear = ({ players: [one, other] }: (typeof parties)[number]) =>
    greatCircleKm(one?.coordinates ?? NOWHERE, other?.coordinates ?? NOWHERE) < 120
  const share = shareOf(several, isNear)
  expect(share).toBeGreaterThan(0.7)
  expect(share).toBeLessThan(0.85)
})

const NOWHERE = { latitude: 0, longitude: 0 }
