import { CROWD_FORMAT, type Crowd, type CrowdHeader, type CrowdParty } from '../crowd.js'
import { arrivalsOf } from './arrivals.js'
import { choiceOf } from './distributions.js'
import { readParameters, readSeed, type CompleteParameters, type CrowdParameters } from './parameters.js'
import { playersOf } from './players.js'
import { createStreams, type Streams } from './streams.js'
import { visitsOf } from './visits.js'

/** A crowd that is made party by party, so that one of any size needs little memory. */
export interface CrowdStream {
  readonly header: CrowdHeader
  /** In the order in which they first come. */
  readonly parties: Iterable<CrowdParty>
}

/**
 * Makes a synthetic crowd. The same parameters and seed give the same crowd on every machine, and each property of each
 * party has random numbers of its own: a change of one parameter leaves everything else as it was.
 * @throws {InvalidInput} naming the parameter and its value.
 */
export function generateCrowd(parameters: CrowdParameters = {}, seed = 1): Crowd {
  const { header, parties } = streamCrowd(parameters, seed)
  return { header, parties: [...parties] }
}

/** The same, made while it is read. @throws {InvalidInput} at once. */
export function streamCrowd(parameters: CrowdParameters = {}, seed = 1): CrowdStream {
  const [complete, root] = [readParameters(parameters), readSeed(seed)]
  const durationMs = Math.round(complete.hours * 3_600_000)
  const streams = createStreams(root)
  const arrivals = arrivalsOf(complete)
  const plan = planOf(complete, streams)
  const players = playersOf(complete, streams, arrivals)
  const queueOf = queues(complete)
  const { sizes, cities, times, order } = schedule(plan, arrivals, streams)

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

/** The sizes of parties, until all players are in one: the last party may be smaller than drawn. */
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

/** Where and when each party comes, and the order of that. */
function schedule(sizes: Uint8Array, arrivals: ReturnType<typeof arrivalsOf>, streams: Streams) {
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
  return { sizes, cities, times, order }
}

function queues({ queues: weights }: CompleteParameters): (random: () => number) => string | undefined {
  const names = Object.keys(weights)
  const values = Object.values(weights)
  if (!values.some((weight) => weight > 0)) return () => undefined
  const choice = choiceOf(values)
  return (random) => names[choice(random)]
}
