import { greatCircleKm } from '@muster/core'
import type { Random } from '@muster/core/clock'
import {
  type Crowd,
  CROWD_FORMAT,
  type CrowdHeader,
  type CrowdParty,
  type CrowdPlayer,
  type CrowdVisit,
} from '../crowd.js'
import { type Arrivals, arrivalsOf } from './arrivals.js'
import type { City } from './cities.js'
import {
  choiceOf,
  createStreams,
  exponential,
  logNormal,
  normal,
  type Purpose,
  type Streams,
  weibull,
} from './distributions.js'
import { type CompleteParameters, type CrowdParameters, readParameters, readSeed } from './parameters.js'

/** Maximum number of visits of a party (our choice). */
const MOST_VISITS = 200

/**
 * Draws the behaviour of a party, visit by visit. A visit is omitted if it could not begin within the crowd's duration
 * even without any wait.
 * @param leftMs milliseconds from the party's first visit until the crowd's end.
 */
function visitsOf(
  { patience, visits, play }: CompleteParameters,
  streams: Streams,
  party: number,
  leftMs: number,
): CrowdVisit[] {
  const of = (purpose: Purpose) => streams(purpose, party)
  const [waiting, accepting, playing, leaving] = [of('patience'), of('accept'), of('play'), of('leave')]
  const [returning, pausing] = [of('return'), of('break')]
  const made: CrowdVisit[] = []
  let goneMs = 0
  for (;;) {
    const matchMs = logNormal(playing, play.medianMs, play.spread)
    const [leavesEarly, part] = [leaving() < play.leaveEarly, leaving()]
    const visit = {
      patienceMs: wholeMs(weibull(waiting, patience.medianMs, patience.shape)),
      accepts: accepting() >= visits.decline,
      playMs: wholeMs(leavesEarly ? part * matchMs : matchMs),
    }
    const [again, later] = [returning() < visits.again, returning() < visits.later]
    const breakMs = wholeMs(logNormal(pausing, again ? visits.breakMs : visits.laterMs, visits.spread))
    goneMs += visit.playMs + breakMs
    const isLast = !(again || later) || goneMs >= leftMs || made.length + 1 === MOST_VISITS
    made.push(isLast ? visit : { ...visit, breakMs })
    if (isLast) return made
  }
}

/** Maximum of any duration: a year in milliseconds. */
const YEAR_MS = 31_536_000_000

/** Rounds the milliseconds of a wait, a match or a break to a whole number of at least 1. */
export const wholeMs = (ms: number): number => Math.min(YEAR_MS, Math.max(1, Math.round(ms)))

/** Creates the players of a party in or near the city of its first player. */
function playersOf(parameters: CompleteParameters, streams: Streams, arrivals: Arrivals) {
  const { cities, parties, beacons } = parameters
  const [platformOf, rolesOf] = [nameOf(parameters.platforms), roles(parameters)]

  return (party: number, size: number, firstCity: number): CrowdPlayer[] => {
    const of = (purpose: Purpose) => streams(purpose, party)
    const [moving, place, access, jitter] = [of('city'), of('place'), of('access'), of('jitter')]
    const [skill, error, role, platform] = [of('skill'), of('seen'), of('role'), of('platform')]
    // The first number of this stream was used to choose the first city, so it is skipped.
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

/**
 * Returns the true skill of a player. Skills in a party share the component `common`, so that any two of them correlate
 * as stated.
 */
function skillOf({ mean, deviation, partyCorrelation }: CompleteParameters['skill'], common: number, own: number) {
  const z = Math.sqrt(partyCorrelation) * common + Math.sqrt(1 - partyCorrelation) * own
  return Math.round(mean + deviation * z)
}

const KM_PER_DEGREE = 111.2

/** Draws a home in or near a city, rounded to a hundredth of a degree. */
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
    latencies[beacon.name] = Math.min(LONGEST_PING_MS, Math.max(1, Math.round(ms)))
  }
  return latencies
}

/** Maximum milliseconds of a round trip (our choice). Longer ones would count as lost. */
const LONGEST_PING_MS = 10_000

/** Creates a function that draws one of the names, by weight. */
function nameOf(weights: Readonly<Record<string, number>>): (random: Random) => string {
  const names = Object.keys(weights)
  const choice = choiceOf(Object.values(weights))
  return (random) => names[choice(random)] as string
}

/** Creates a function that draws the roles of a player. */
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

/** A crowd whose parties are created while they are read, so that a crowd of any size needs little memory. */
export interface CrowdStream {
  readonly header: CrowdHeader
  /** The parties, in order of their first arrival. */
  readonly parties: Iterable<CrowdParty>
}

/**
 * Generates a synthetic crowd. The same parameters and seed give the same crowd on every machine. Each property of each
 * party has its own random numbers, so changing one parameter leaves everything else unchanged.
 * @throws {InvalidInput} naming the parameter and its value.
 */
export function generateCrowd(parameters: CrowdParameters = {}, seed = 1): Crowd {
  const { header, parties } = streamCrowd(parameters, seed)
  return { header, parties: [...parties] }
}

/** Generates the crowd of `generateCrowd` while it is read. @throws {InvalidInput} synchronously. */
export function streamCrowd(parameters: CrowdParameters = {}, seed = 1): CrowdStream {
  const [complete, root] = [readParameters(parameters), readSeed(seed)]
  const durationMs = Math.round(complete.hours * 3_600_000)
  const streams = createStreams(root)
  const arrivals = arrivalsOf(complete)
  const sizes = planOf(complete, streams)
  const players = playersOf(complete, streams, arrivals)
  const anyQueue = Object.values(complete.queues).every((weight) => weight === 0)
  const queueOf = anyQueue ? () => undefined : nameOf(complete.queues)
  const { cities, times, order } = schedule(sizes, arrivals, streams)

  const partyOf = (party: number): CrowdParty => {
    const [at, queue] = [times[party] as number, queueOf(streams('queue', party))]
    return {
      id: `p${party}`,
      at,
      players: players(party, sizes[party] as number, cities[party] as number),
      ...(queue !== undefined && { queues: [queue] }),
      visits: visitsOf(complete, streams, party, durationMs - at),
    }
  }
  return {
    header: {
      format: CROWD_FORMAT,
      startsAt: complete.startsAt,
      durationMs,
      made: { seed: root, parameters: complete, parties: sizes.length },
    },
    parties: {
      *[Symbol.iterator]() {
        for (const party of order) yield partyOf(party)
      },
    },
  }
}

/** Draws the sizes of parties for the given number of players. The last party may be smaller than drawn. */
function planOf({ players, parties }: CompleteParameters, streams: Streams): Uint8Array {
  const sizeOf = choiceOf(parties.sizes)
  const sizes = new Uint8Array(players)
  let [party, left] = [0, players]
  for (; left > 0; party += 1) {
    const size = Math.min(left, sizeOf(streams('size', party)) + 1)
    sizes[party] = size
    left -= size
  }
  return sizes.subarray(0, party)
}

/** Draws the city and the time of each party. Returns them with the order of arrival. */
function schedule(sizes: Uint8Array, arrivals: Arrivals, streams: Streams) {
  const cities = new Uint16Array(sizes.length)
  const times = new Float64Array(sizes.length)
  for (let party = 0; party < sizes.length; party += 1) {
    const city = arrivals.city(streams('city', party))
    cities[party] = city
    times[party] = arrivals.at(city, streams('arrival', party))
  }
  const order = Uint32Array.from(sizes, (_, party) => party).toSorted(
    (one, other) => (times[one] as number) - (times[other] as number) || one - other,
  )
  return { cities, times, order }
}
