import { expect, test } from 'vitest'
import { CROWD_FORMAT, type Crowd } from '../crowd/crowd.js'
import { shortCrowd } from './tune-crowd.js'

const HOUR = 3_600_000

/** Creates parties that arrive more and more often during a day. */
const crowdOf = (count: number): Crowd => ({
  header: {
    format: CROWD_FORMAT,
    startsAt: 5,
    durationMs: 24 * HOUR,
    made: { seed: 1, parameters: {}, parties: count },
  },
  parties: Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    at: Math.floor(24 * HOUR * Math.sqrt(index / count)),
    players: [{ id: `p${index}` }],
    visits: [{ patienceMs: 1000, playMs: 1000 }],
  })),
})

test('a crowd shortened to a quarter keeps a quarter of the parties of each hour, in the order of arrival', () => {
  const crowd = crowdOf(4000)
  const { header, parties } = shortCrowd(crowd, 0.25)
  expect(header).toEqual({ format: crowd.header.format, startsAt: crowd.header.startsAt, durationMs: 6 * HOUR })
  const times = parties.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(times.at(-1)).toBeLessThan(6 * HOUR)
  // The short crowd has as many arrivals per minute as the whole crowd, with the same unevenness.
  expect(parties.length / crowd.parties.length).toBeCloseTo(0.25, 2)
  const busiest = (all: readonly { readonly at: number }[], durationMs: number) => {
    const parts = Array.from({ length: 8 }, (_, part) =>
      all.filter(({ at }) => Math.floor((at / durationMs) * 8) === part),
    )
    return Math.max(...parts.map(({ length }) => length)) / (all.length / 8)
  }
  expect(busiest(parties, 6 * HOUR)).toBeCloseTo(busiest(crowd.parties, 24 * HOUR), 1)
  const own = new Map(crowd.parties.map((party) => [party.id, party]))
  for (const { at: _, ...party } of parties) expect(own.get(party.id)).toMatchObject(party)
})

test('a small crowd is not shortened, but loses its parameters', () => {
  const crowd = crowdOf(50)
  const { made: _, ...header } = crowd.header
  expect(shortCrowd(crowd, 0.25)).toEqual({ header, parties: crowd.parties })
})
