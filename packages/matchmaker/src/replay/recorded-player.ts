import { addressPrefix, type Coordinates } from '@muster/core'
import type { Player } from '../player.js'
import type { RecordedPlayer } from './lines.js'

/** Makes what is written down of players, and gives numbers to their networks. */
export type PlayerRecorder = (player: Player, place: Coordinates | undefined) => RecordedPlayer

/** @param keepAddresses whether addresses are written down as they are. */
export function createPlayerRecorder(keepAddresses: boolean): PlayerRecorder {
  const networks = new Map<string, number>()
  const numberOf = (ip: string): number | undefined => {
    const network = addressPrefix(ip)
    if (network === undefined) return undefined
    const number = networks.get(network) ?? networks.size
    networks.set(network, number)
    return number
  }
  return ({ ip, ...player }, place) => {
    if (ip === undefined) return player
    if (keepAddresses) return { ...player, ip, ...(place && { coordinates: place }) }
    return place === undefined ? { ...player, network: numberOf(ip) } : { ...player, coordinates: place }
  }
}

/** Networks that can be told apart by an invented address: the free bits of fd00::/8 in a /32. */
const NETWORKS = 2 ** 24

/**
 * A player for a matchmaker again. Who had only a network gets an invented address in it: a unique local one (RFC
 * 4193).
 */
export function playerOf({ network, ...player }: RecordedPlayer): Player {
  if (network === undefined || player.ip !== undefined || player.coordinates !== undefined) return player
  const bits = (network % NETWORKS).toString(16).padStart(6, '0')
  return { ...player, ip: `fd${bits.slice(0, 2)}:${bits.slice(2)}::1` }
}
