import { greatCircleKm, type Client } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import type { Arrival } from './crowd.js'
import type { Player as Located } from './players.js'
import type { DemoQueue } from './queues.js'

/** Number of beacons that a player measures: the nearest ones. */
const MEASURED = 16

interface BeaconAt {
  readonly name: string
  readonly latitude: number
  readonly longitude: number
}

/** Returns the service's ping beacons with their locations. */
export async function beaconsOf(client: Client): Promise<readonly BeaconAt[]> {
  const beacons: BeaconAt[] = []
  for await (const { host, location } of client.locations.beacons.all()) {
    beacons.push({
      name: location.city ?? host,
      latitude: Number(location.latitude),
      longitude: Number(location.longitude),
    })
  }
  return beacons
}

/**
 * Adds measured latencies to players of queues that have a latency rule. A latency is 10 ms plus 2 ms for every 100 km,
 * and up to half as much again, as on real networks.
 */
export function measured(
  arrivals: readonly Arrival[],
  queues: readonly DemoQueue[],
  placeOf: (ip: string) => Located | undefined,
  beacons: readonly BeaconAt[],
  seed: number,
): readonly Arrival[] {
  const random = seededRandom(seed)
  const byLatency = new Set(
    queues.flatMap(({ definition: { name, rules = [] } }) =>
      rules.some(({ kind }) => kind === 'latency') ? name : [],
    ),
  )
  const latenciesAt = (place: Located) => {
    const nearest = beacons
      .map((beacon) => ({ beacon, km: greatCircleKm(place, beacon) }))
      .toSorted((a, b) => a.km - b.km)
    return Object.fromEntries(
      nearest
        .slice(0, MEASURED)
        .map(({ beacon, km }) => [beacon.name, Math.round((10 + 0.02 * km) * (1 + random() / 2))]),
    )
  }
  return arrivals.map((arrival) => {
    const { ticket } = arrival
    if (!byLatency.has(ticket.queue)) return arrival
    const players = ticket.players.map((player) => {
      const place = placeOf(player.ip ?? '')
      return place === undefined ? player : { ...player, latencies: latenciesAt(place) }
    })
    return { ...arrival, ticket: { ...ticket, players } }
  })
}
