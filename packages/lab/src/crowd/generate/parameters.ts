import { InvalidInput } from '@muster/core'
import { read, validateAll, type ValidatedWhole } from '@muster/core/internal'
import { z } from 'zod'
import { CITIES } from './cities.js'

/** A number from `least` to `most`, with a default. */
const amount = (least: number, most: number, fallback: number) => z.number().min(least).max(most).default(fallback)
/** A share from 0 to 1. */
const share = (fallback: number) => amount(0, 1, fallback)
/** A relative weight. */
const weight = z.number().min(0).max(1e9)
const nameText = z.string().min(1).max(128)
const hasWeight = (weights: Readonly<Record<string, number>> | readonly number[]) =>
  Object.values(weights).some((one) => one > 0)
const NO_WEIGHT = 'must not be 0 everywhere'
/** Weights by name. */
const weights = z.record(nameText, weight).refine(hasWeight, NO_WEIGHT)

const HOUR_MS = 3_600_000
/** Maximum number of roles of a ticket's player. */
const MOST_ROLES = 16

const latency = z.strictObject({
  perKmMs: amount(0, 1, 0.014).describe(
    'Milliseconds of the round trip for each kilometre. Light takes 0.01 in fibre, there and back, and cables are ' +
      'longer than the great circle: London to New York (5,570 km) takes 78, about what is measured',
  ),
  accessMs: amount(0, 1000, 10).describe(
    "Median milliseconds that a player's own line adds. Our choice, between fibre (3) and mobile (40)",
  ),
  accessSpread: amount(0, 2, 0.6).describe(
    'Standard deviation of the logarithm of accessMs. Our choice: one in twenty has 2.7 times the median or more',
  ),
  jitterMs: amount(0, 1000, 3).describe(
    'Mean milliseconds by which a measured round trip is too long, exponentially distributed. Our choice: a quiet line',
  ),
})

const parties = z.strictObject({
  sizes: z
    .array(weight)
    .min(1)
    .max(10)
    .refine(hasWeight, NO_WEIGHT)
    .default([66, 19, 7, 3, 5])
    .describe('Weights of parties of 1, 2, 3 … players. Our choice: three players in five are in parties'),
  sameCity: share(0.7).describe(
    "Share of members who live in the city of the party's first player; the others live in the region of " +
      'that player. Our choice: most friends have met',
  ),
  samePlatform: share(0.8).describe(
    "Share of members who use the platform of the party's first player. Our choice: friends buy alike",
  ),
})

const skill = z.strictObject({
  mean: amount(-1e6, 1e6, 1500).describe('Mean of the true skill. Where Elo and Glicko begin'),
  deviation: amount(0, 1e6, 350).describe(
    'Standard deviation of the true skill among players. What Glicko assumes for an unknown player (Glickman)',
  ),
  partyCorrelation: share(0.5).describe(
    'Correlation of the skills of two members of a party. Our choice: friends are alike, not equal',
  ),
  error: amount(0, 1e6, 80).describe(
    'Standard deviation of attributes.skill from the true skill. About that of a regular player in Glicko',
  ),
})

const roles = z.strictObject({
  weights: z
    .record(nameText, weight)
    .refine((given) => Object.keys(given).length <= MOST_ROLES, `must have at most ${MOST_ROLES} entries`)
    .default({ damage: 62, support: 22, tank: 16 })
    .describe('Roles by popularity; {} for none. Our choice: few like to protect others'),
  flexible: share(0.25).describe('Share of players who take a second role as well. Our choice: one in four'),
  any: share(0.1).describe('Share of players who take any role. Our choice: one in ten'),
})

const patience = z.strictObject({
  medianMs: amount(1, 7 * 24 * HOUR_MS, 240_000).describe(
    'Median milliseconds until a party gives up. Our choice: a fifth of a match',
  ),
  shape: amount(0.2, 20, 1.5).describe(
    'Shape of the Weibull distribution: above 1, more give up the longer they wait. Our choice: ' +
      'between chance (1) and a fixed limit',
  ),
})

const play = z.strictObject({
  medianMs: amount(1, 24 * HOUR_MS, 1_200_000).describe('Median milliseconds of a match. Our choice: 20 minutes'),
  spread: amount(0, 2, 0.25).describe(
    'Standard deviation of the logarithm of the length of a match. Our choice: two of three last 16 to 26 minutes',
  ),
  leaveEarly: share(0.03).describe(
    'Share of visits that leave the match before its end, at any time. Our choice: among ten players, one leaves in ' +
      'each fourth match',
  ),
})

const visits = z.strictObject({
  decline: share(0.02).describe(
    'Share of visits that decline a match which requires acceptance. Our choice: one of ten parties, each fifth time',
  ),
  again: amount(0, 0.99, 0.75).describe(
    'Probability of queueing again after a visit. Our choice: four matches in a row',
  ),
  breakMs: amount(1, 24 * HOUR_MS, 45_000).describe(
    'Median milliseconds from a visit until the player queues again. Our choice: results are read',
  ),
  later: amount(0, 0.99, 0.2).describe(
    'Probability that a player who does not queue again comes back later. Our choice: one in five plays twice a day',
  ),
  laterMs: amount(1, 7 * 24 * HOUR_MS, 10_800_000).describe(
    'Median milliseconds until a player comes back later. Our choice: three hours',
  ),
  spread: amount(0, 2, 0.7).describe(
    'Standard deviation of the logarithm of breakMs and laterMs. Our choice: two of three are within half and twice ' +
      'the median',
  ),
})

const latitude = z.number().min(-90).max(90)
const longitude = z.number().min(-180).max(180)
const city = z.strictObject({
  name: nameText,
  region: nameText,
  population: z.number().min(0).max(1000),
  latitude,
  longitude,
  utcOffsetHours: z.number().min(-12).max(14),
})
const beacon = z.strictObject({ name: nameText, latitude, longitude })

/** The default cities that have beacons: about one for each region with many edge locations. */
const BEACON_CITIES = new Set(
  (
    'Frankfurt,London,Madrid,Stockholm,Washington,Chicago,Dallas,Los Angeles,São Paulo,Santiago,Tokyo,Hong Kong,' +
    'Singapore,Mumbai,Dubai,Johannesburg,Sydney'
  ).split(','),
)
const BEACONS = CITIES.filter(({ name }) => BEACON_CITIES.has(name)).map((one) => {
  return { name: one.name, latitude: one.latitude, longitude: one.longitude }
})

/** The schema of all parameters of a crowd. Each has a default, and its description names the source of the default. */
export const parametersSchema = z
  .strictObject({
    players: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(50_000)
      .describe('How many players come, each at least once. Our choice: a game of middling size'),
    hours: amount(0.01, 24 * 31, 24).describe(
      'Hours within which players come for the first time. A whole day, because load follows the time of day',
    ),
    startsAt: z
      .int()
      .min(0)
      .max(4_102_444_800_000)
      .default(1_767_571_200_000)
      .describe(
        'Epoch milliseconds at which the crowd begins. Our choice: a midnight in UTC, so that hours are easy to read',
      ),
    cities: z
      .array(city)
      .min(1)
      .max(2000)
      .default([...CITIES])
      .describe('Where players live: in a region, by population. 87 large cities (United Nations)'),
    regions: weights
      .default({
        Europe: 34,
        'North America': 28,
        'South America': 12,
        'East Asia': 10,
        'Southeast Asia': 6,
        Oceania: 3,
        'Middle East': 3,
        'South Asia': 2,
        Africa: 2,
      })
      .describe(
        'Weights of the regions in which players live. Each needs a city; cities of other regions have no ' +
          'players. Our choice, for PC and consoles',
      ),
    metropolitanKm: amount(0, 500, 15).describe(
      'Standard deviation of homes from the middle of their city in each direction, in kilometres. Our choice: ' +
        'suburbs count',
    ),
    activity: z
      .array(weight)
      .length(24)
      .refine(hasWeight, NO_WEIGHT)
      .default([
        4.5, 3, 2, 1.4, 1.1, 1, 1.2, 1.8, 2.6, 3.4, 4.2, 5, 5.6, 6, 6.2, 6.6, 7.2, 8, 8.8, 9.6, 10, 9.6, 8.2, 6.3,
      ])
      .describe(
        'Weights of arrivals at each hour of local time, from hour 0, with straight lines between them. ' +
          'Games have such a daily rhythm (Chambers and others, IMC 2005); that it is tenfold is our choice',
      ),
    beacons: z
      .array(beacon)
      .max(64)
      .default(BEACONS)
      .describe(
        'Beacons to which each player has a latency; [] for none. 17 of the cities, where edge providers are dense',
      ),
    latency: latency.prefault({}),
    parties: parties.prefault({}),
    skill: skill.prefault({}),
    roles: roles.prefault({}),
    platforms: weights
      .default({ pc: 55, playstation: 22, xbox: 15, switch: 8 })
      .describe('Weights of attributes.platform. Our choice: a game on all of them'),
    queues: z
      .record(nameText, weight)
      .default({})
      .describe(
        'Weights of the queues, of which each party wants one; {} means that each party wants all queues of ' +
          'a run that it fits into. So a crowd fits any queue',
      ),
    patience: patience.prefault({}),
    visits: visits.prefault({}),
    play: play.prefault({}),
  })
  .superRefine(({ cities, regions, beacons }, context) => {
    const inhabited = new Set(cities.filter(({ population }) => population > 0).map(({ region }) => region))
    for (const region of Object.keys(regions)) {
      if (!inhabited.has(region))
        context.addIssue({ code: 'custom', path: ['regions', region], message: 'is a region without cities' })
    }
    for (const [index, { name: given }] of beacons.entries()) {
      if (beacons.findIndex((one) => one.name === given) !== index)
        context.addIssue({ code: 'custom', path: ['beacons', index, 'name'], message: 'is listed twice' })
    }
  })

/** The parameters of a crowd as a caller states them: each may be omitted. */
export type CrowdParameters = z.input<typeof parametersSchema>

/** The parameters of a crowd with all defaults. */
export type CompleteParameters = z.output<typeof parametersSchema>

const seedSchema = z
  .int()
  .min(0)
  .max(2 ** 32 - 1)

/** Returns the parameters with their defaults. @throws {InvalidInput} naming the parameter and its value. */
export const readParameters = (parameters: unknown): CompleteParameters =>
  read(
    parametersSchema,
    parameters,
    (field, fieldAndFault) => new InvalidInput(`crowd parameter ${fieldAndFault}`, { field }),
  )

/** Returns a valid seed. @throws {InvalidInput} */
export const readSeed = (seed: unknown): number =>
  read(seedSchema, seed, (_, message) => new InvalidInput(`seed: ${message}`, { field: 'seed' }))

/** Returns the parameters with their defaults, or all faults with their paths and values. */
export const checkParameters = (parameters: unknown): ValidatedWhole<CompleteParameters> =>
  validateAll(parametersSchema, parameters)

/** The documentation of a parameter. */
export interface ParameterDescription {
  /** Path of the parameter, e.g. `patience.medianMs`. */
  readonly name: string
  readonly default: unknown
  /** The meaning of the parameter, and the source of its default. */
  readonly description: string
}

/** Returns the documentation of all parameters, in the order of the schema: for `--show-parameters` and the docs. */
export const describeParameters = (): readonly ParameterDescription[] =>
  ofShape(parametersSchema.shape, parametersSchema.parse({}), '')

function ofShape(shape: Readonly<Record<string, z.ZodType>>, defaults: object, path: string): ParameterDescription[] {
  return Object.entries(shape).flatMap(([key, schema]) => {
    const value = (defaults as Readonly<Record<string, unknown>>)[key]
    const name = `${path}${key}`
    if (schema.description !== undefined) return [{ name, default: value, description: schema.description }]
    const inner = (schema as z.ZodPrefault<z.ZodObject>).unwrap()
    return ofShape(inner.shape, value as object, `${name}.`)
  })
}
