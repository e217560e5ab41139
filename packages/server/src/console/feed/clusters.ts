// pure: places, clustered so that a frame is bounded
import type { ServerCluster, WaitingCluster } from '@muster/console/wire'
import type { AreaSurvey, ServerSurvey } from '@muster/matchmaker'

const DEGREES = 3

interface Cluster {
  latitude: number
  longitude: number
  players: number
  oldest: number
}

const tenth = (degrees: number) => Math.round(degrees * 10) / 10

/** Waiting players by area, at most `most` areas: where there are more, areas are joined to larger ones. */
export function waitingClusters(areas: readonly AreaSurvey[], most: number, now: number): WaitingCluster[] {
  let clusters: readonly AreaSurvey[] = areas
  for (let degrees = DEGREES * 2; clusters.length > most; degrees *= 2) clusters = joined(areas, degrees)
  return clusters.map(({ latitude, longitude, players, oldest }) => ({
    latitude: tenth(latitude),
    longitude: tenth(longitude),
    players,
    oldest: Math.max(0, Math.round(now - oldest)),
  }))
}

/** Each cluster is where most of its players are. The areas are coarse, so that tells of no single player. */
function joined(areas: readonly AreaSurvey[], degrees: number): AreaSurvey[] {
  const clusters = new Map<string, Cluster>()
  for (const { latitude, longitude, players, oldest } of areas) {
    const key = `${Math.floor((latitude + 90) / degrees)} ${Math.floor((longitude + 180) / degrees)}`
    const cluster = clusters.get(key)
    if (cluster === undefined) {
      clusters.set(key, { latitude, longitude, players, oldest })
      continue
    }
    const all = cluster.players + players
    cluster.latitude += ((latitude - cluster.latitude) * players) / all
    cluster.longitude += ((longitude - cluster.longitude) * players) / all
    cluster.players = all
    cluster.oldest = Math.min(cluster.oldest, oldest)
  }
  return [...clusters.values()]
}

/** Servers whose place is known, by place: at most `most` places, those with most servers. */
export function serverClusters(servers: readonly ServerSurvey[], most: number): ServerCluster[] {
  const clusters = new Map<string, ServerCluster & { starting: number; running: number; players: number }>()
  for (const { place, city, phase, servers: count, players } of servers) {
    if (place === undefined || phase === 'stopping') continue
    const key = `${place.latitude} ${place.longitude}`
    const cluster = clusters.get(key) ?? {
      latitude: tenth(place.latitude),
      longitude: tenth(place.longitude),
      city: city ?? null,
      starting: 0,
      running: 0,
      players: 0,
    }
    clusters.set(key, cluster)
    if (phase === 'running') cluster.running += count
    else cluster.starting += count
    cluster.players += players
  }
  const sizeOf = ({ starting, running }: ServerCluster) => starting + running
  return [...clusters.values()].toSorted((one, other) => sizeOf(other) - sizeOf(one)).slice(0, most)
}
