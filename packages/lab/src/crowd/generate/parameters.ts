import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '@muster/core/validation'
import { CITIES } from './cities.js'
import { hasWeight, name, NO_WEIGHT, weight, weights } from './fields.js'
import { latency, parties, patience, play, roles, skill, visits } from './parameter-groups.js'

const latitude = z.number().min(-90).max(90)
const longitude = z.number().min(-180).max(180)
const city = z.strictObject({
  name,
  region: name,
  population: z.number().min(0).max(1000),
  latitude,
  longitude,
  utcOffsetHours: z.number().min(-12).max(14),
})
const beacon = z.strictObject({ name, latitude, longitude })

/** Cities with beacons unless others are given: about one for each region in which edge providers are dense. */
const BEACON_CITIES = new Set(
  (
    'Frankfurt,London,Madrid,Stockholm,Washington,Chicago,Dallas,Los Angeles,São Paulo,Santiago,Tokyo,Hong Kong,' +
    'Singapore,Mumbai,Dubai,Johannesburg,Sydney'
  ).split(','),
)
const BEACONS = CITIES.filter((one) => BEACON_CITIES.has(one.name)).map((one) => ({
  name: one.name,
  latitude: one.latitude,
  longitude: one.longitude,
}))

/** All of a crowd's parameters. Each has a default; its description says where it comes from. */
export const parametersSchema = z
  .strictObject({
    players: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(50_000)
      .describe('How many players come, each at least once. Our choice: a game of middling size'),
    hours: z
      .number()
      .min(0.01)
      .max(24 * 31)
      .default(24)
      .describe('Hours in which they come for the first time. A whole day, since load follows it'),
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
        'Weights of regions, each with a city; cities of others have no players. Our choice, for PC and consoles',
      ),
    metropolitanKm: z
      .number()
      .min(0)
      .max(500)
      .default(15)
      .describe(
        'Deviation of homes from the middle of their city, in kilometres to each side. Our choice: suburbs count',
      ),
    activity: z
      .array(weight)
      .length(24)
      .refine(hasWeight, NO_WEIGHT)
      .default([
        4.5, 3, 2, 1.4, 1.1, 1, 1.2, 1.8, 2.6, 3.4, 4.2, 5, 5.6, 6, 6.2, 6.6, 7.2, 8, 8.8, 9.6, 10, 9.6, 8.2, 6.3,
      ])
      .describe(
        'Weights of arrivals at each hour of local time, from 0; straight lines between. Games have such a daily ' +
          'rhythm (Chambers and others, IMC 2005); that it is tenfold is our choice',
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
      .record(name, weight)
      .default({})
      .describe(
        'Weights of the queues that parties want, one each; {} for all queues of a run. A crowd fits any queue',
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
        context.addIssue({ code: 'custom', path: ['beacons', index, 'name'], message: 'is there twice' })
    }
  })

/** What is given of a crowd's parameters. */
export type CrowdParameters = z.input<typeof parametersSchema>

/** All parameters of a crowd. */
export type CompleteParameters = z.output<typeof parametersSchema>

const seedSchema = z
  .int()
  .min(0)
  .max(2 ** 32 - 1)

/** @throws {InvalidInput} naming the parameter and its value. */
export const readParameters = (parameters: unknown): CompleteParameters =>
  read(parametersSchema, parameters, (field, message) => new InvalidInput(`crowd parameter ${message}`, { field }))

/** @throws {InvalidInput} */
export const readSeed = (seed: unknown): number =>
  read(seedSchema, seed, (_, message) => new InvalidInput(`seed: ${message}`, { field: 'seed' }))
