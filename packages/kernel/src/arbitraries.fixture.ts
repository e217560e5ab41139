import fc from 'fast-check'
import type { Checks, Entry, Model, Opening, Radius, Span, TeamShape } from './data/model.js'

/** Random small models of all kinds, with tickets close enough to one another to match. */

export const NOW = 1_000_000
const LEVELS = [0, 5000, 10_000, 20_000]

const by = fc.constantFrom('each', 'youngest', 'oldest', 'average')
const growing = (values: readonly number[]) =>
  fc
    .subarray([...values], { minLength: LEVELS.length, maxLength: LEVELS.length })
    .map((limits) => Float64Array.from(limits))

const chord = (km: number) => (2 * Math.sin(km / 12_742)) ** 2
const radius: fc.Arbitrary<Radius> = fc.record({
  by,
  squared: growing([
    chord(50),
    chord(60),
    chord(200),
    chord(220),
    chord(300),
    chord(500),
    chord(2000),
    chord(5000),
    Infinity,
    Infinity,
  ]),
  unknown: fc.constantFrom('network', 'any'),
})
const span: fc.Arbitrary<Span> = fc.record({
  by,
  limit: growing([0, 10, 12, 15, 30, 30, 50, 55, 100, 1000, Infinity, Infinity]),
})

const shapes: fc.Arbitrary<readonly TeamShape[]> = fc
  .array(
    fc.tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 })),
    { minLength: 1, maxLength: 3 },
  )
  .chain((teams) =>
    fc.boolean().map((exact) =>
      teams.map(([max, fewer], index) => ({
        name: `team-${index}`,
        max,
        // The minimum never exceeds `max` and never grows with the level.
        min: Uint16Array.from(LEVELS, (_, level) =>
          exact ? max : Math.max(1, max - Math.max(...fewer.slice(0, level + 1))),
        ),
      })),
    ),
  )

/** Facts are strings, whose letters the pair rules compare. */
const unlike = (one: string, other: string) => one.at(-1) !== other.at(-1)
const checks: fc.Arbitrary<Checks<string>> = fc.record({
  pair: fc.constantFrom(
    undefined,
    (one: string, other: string, level: number) => level === 3 || one !== 'a' || other !== 'a',
    unlike,
  ),
  part: fc.constantFrom(undefined, (teams: readonly (readonly string[])[]) =>
    teams.every((team) => team.filter((one) => one === 'b').length < 2),
  ),
  whole: fc.constantFrom(
    undefined,
    (teams: readonly (readonly string[])[]) => teams.every((team) => team.filter((one) => one === 'b').length < 2),
    (teams: readonly (readonly string[])[]) => teams.flat().filter((one) => one === 'c').length !== 1,
  ),
  unevenness: fc.constantFrom(undefined, (teams: readonly (readonly string[])[]) => {
    const weights = teams.map((team) => team.reduce((sum, one) => sum + one.charCodeAt(0), 0))
    return Math.max(...weights) - Math.min(...weights)
  }),
})
/** `part` must not refuse what `whole` allows, so `whole` includes `part`. */
const sound = ({ pair, part, whole, unevenness }: Checks<string>): Checks<string> => ({
  pair,
  part: part && whole && part,
  whole: part && whole ? (teams, levels) => part(teams, [], levels) && whole(teams, levels) : whole,
  unevenness,
})

export const models: fc.Arbitrary<Model<string>> = fc.record({
  levels: fc.constant(Float64Array.from(LEVELS)),
  lastResortLevel: fc.constantFrom(Infinity, Infinity, 3),
  teams: shapes,
  fillForMs: fc.constantFrom(0, 3000, 12_000),
  radius: fc.option(radius, { nil: undefined }),
  spans: fc.array(span, { maxLength: 2 }),
  checks: fc.option(checks.map(sound), { nil: undefined }),
})

// Locations are clustered so that tickets can match. Two clusters are at the poles and two at the date line.
const centres = [
  [52, 13],
  [48, 11],
  [0, 179.9],
  [0, -179.9],
  [89.9, 0],
  [-89.9, 120],
] as const
const toRadians = (degrees: number) => (degrees * Math.PI) / 180
function point(latitude: number, longitude: number): [number, number, number] {
  const [north, east] = [toRadians(latitude), toRadians(longitude)]
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)]
}
const place = fc
  .tuple(
    fc.constantFrom(...centres),
    fc.double({ min: -4, max: 4, noNaN: true }),
    fc.double({ min: -4, max: 4, noNaN: true }),
  )
  .map(([[latitude, longitude], north, east]) => point(Math.max(-90, Math.min(90, latitude + north)), longitude + east))
const value = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0, 0, 0, 5))
      .map(([low, more]) => [low, low + more]),
  },
  { weight: 1, arbitrary: fc.constant([NaN, NaN]) },
)

export const entries = (most: number): fc.Arbitrary<Entry<string>[]> =>
  fc
    .array(
      fc.record({
        size: fc.constantFrom(1, 1, 1, 2, 2, 3, 4),
        since: fc.integer({ min: NOW - 25_000, max: NOW }),
        priority: fc.constantFrom(0, 0, 0, 1, -1),
        key: fc.constantFrom('x', 'x', 'x', 'y'),
        place: fc.option(place, { freq: 6, nil: undefined }),
        network: fc.constantFrom('n', 'm', undefined),
        values: fc.tuple(value, value).map((both) => both.flat()),
        facts: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      }),
      { maxLength: most },
    )
    .map((many) => many.map((entry, index) => ({ id: `t${index}`, ...entry })))

/** Up to three openings that fit the model. */
export const openingsOf = (model: Model<string>): fc.Arbitrary<Opening<string>[]> =>
  entries(3).chain((many) => {
    const team = (max: number) => fc.tuple(fc.integer({ min: 0, max }), fc.subarray(['a', 'b', 'd']))
    const opening = (entry: Entry<string>) =>
      fc.tuple(...model.teams.map(({ max }) => team(max))).map((teams): Opening<string> => ({
        ...entry,
        id: `o${entry.id}`,
        rooms: teams.map(([room]) => room),
        present: teams.map(([, present]) => present),
      }))
    return fc.tuple(...many.map(opening))
  })
