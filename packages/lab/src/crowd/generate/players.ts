import { greatCircleKm } from '@muster/core'
import type { Random } from '@muster/core/clock'
import type { CrowdPlayer } from '../crowd.js'
import type { Arrivals } from './arrivals.js'
import type { City } from './cities.js'
import { choiceOf, exponential, logNormal, normal } from './distributions.js'
import type { CompleteParameters } from './parameters.js'
import type { Purpose, Streams } from './streams.js'

/** Makes the players of a party. @param city of its first player. */
export type MakePlayers = (party: number, size: number, city: number) => CrowdPlayer[]

export function playersOf(parameters: CompleteParameters, streams: Streams, arrivals: Arrivals): MakePlayers {
  const { cities, parties, beacons } = parameters
  const [platformOf, rolesOf] = [platforms(parameters), roles(parameters)]

  return (party, size, firstCity) => {
    const of = (purpose: Purpose) => streams(purpose, party)
    const [moving, place, access, jitter] = [of('city'), of('place'), of('access'), of('jitter')]
    const [skill, error, role, platform] = [of('skill'), of('seen'), of('role'), of('platform')]
    // Drawn for the choice of the first city already.
    moving()
    const common = normal(skill)
    const first = platformOf(platform)
    return Array.from({ length: size }, (_, member) => {
      const near = arrivals.cityNear(firstCity, moving)
      const city = moving() < parties.sameCity || member === 0 ? firstCity : near
      const { region, ...home } = cities[city] as City
      const coordinates = around(home, parameters.metropolitanKm, place)
      const truth = skillOf(parameters.skill, common, normal(skill))
      const own = platformOf(platform)
      const shared = platform() < parties.samePlatform || member === 0
      const willing = rolesOf(role)
      return {
        id: `p${party}-${member + 1}`,
        coordinates,
        ...(beacons.length > 0 && { latencies: latenciesOf(parameters, coordinates, access, jitter) }),
        attributes: {
          skill: Math.round(truth + parameters.skill.error * normal(error)),
          platform: shared ? first : own,
        },
        ...(willing.length > 0 && { roles: willing }),
        region,
        truth,
      }
    })
  }
}

/** Skills of a party have a part in common, so that any two of them correlate as stated. */
function skillOf({ mean, deviation, partyCorrelation }: CompleteParameters['skill'], common: number, own: number) {
  const z = Math.sqrt(partyCorrelation) * common + Math.sqrt(1 - partyCorrelation) * own
  return Math.round(mean + deviation * z)
}

const KM_PER_DEGREE = 111.2

/** A home in or near a city, rounded to a hundredth of a degree. */
function around({ latitude, longitude }: Pick<City, 'latitude' | 'longitude'>, km: number, random: Random) {
  const north = (km * normal(random)) / KM_PER_DEGREE
  const east = (km * normal(random)) / KM_PER_DEGREE / Math.max(0.01, Math.cos((latitude * Math.PI) / 180))
  return { latitude: within(latitude + north, 90), longitude: wrapped(longitude + east) }
}

const hundredths = (degrees: number) => Math.round(degrees * 100) / 100
const within = (degrees: number, most: number) => hundredths(Math.max(-most, Math.min(most, degrees)))
const wrapped = (degrees: number) => hundredths(((((degrees + 180) % 360) + 360) % 360) - 180)

function latenciesOf(
  { beacons, latency }: CompleteParameters,
  home: { readonly latitude: number; readonly longitude: number },
  access: Random,
  jitter: Random,
): Record<string, number> {
  const lineMs = logNormal(access, latency.accessMs, latency.accessSpread)
  const latencies: Record<string, number> = {}
  for (const beacon of beacons) {
    const ms = lineMs + latency.perKmMs * greatCircleKm(home, beacon) + exponential(jitter, latency.jitterMs)
    latencies[beacon.name] = Math.min(MOST_MS, Math.max(1, Math.round(ms)))
  }
  return latencies
}

/** Longest round trip (our choice: what takes longer is lost). */
const MOST_MS = 10_000

function platforms({ platforms: weights }: CompleteParameters): (random: Random) => string {
  const names = Object.keys(weights)
  const choice = choiceOf(Object.values(weights))
  return (random) => names[choice(random)] as string
}

/** Draws the roles that a player takes. */
function roles({ roles: { weights, flexible, any } }: CompleteParameters): (random: Random) => string[] {
  const names = Object.keys(weights).filter((name) => (weights[name] as number) > 0)
  const values = names.map((name) => weights[name] as number)
  if (names.length === 0) return () => []
  const choice = choiceOf(values)
  const others = names.map((_, index) => choiceOf(values.map((weight, at) => (at === index ? 0 : weight))))
  return (random) => {
    const first = choice(random)
    const second = (others[first] as (random: Random) => number)(random)
    const [takesAny, takesTwo] = [random() < any, random() < flexible]
    if (takesAny) return names
    return takesTwo && names.length > 1 ? [names[first] as string, names[second] as string] : [names[first] as string]
  }
}
