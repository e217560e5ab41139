import { addressPrefix, type Coordinates } from '@muster/core'
import type { Player } from '@muster/servers'
import type { RecordedPlayer } from './lines.js'

/** Makes the recorded form of a player, and numbers the networks. */
export type PlayerRecorder = (player: Player, place: Coordinates | undefined) => RecordedPlayer

/** @param keepAddresses whether addresses are recorded. */
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

/** Number of networks that invented addresses can tell apart: the free bits of fd00::/8 in a /32. */
const NETWORKS = 2 ** 24

/**
 * Makes a player from its recorded form. A player with only a network number gets an invented address in that network:
 * a unique local address (RFC 4193).
 */
export function playerOf({ network, ...player }: RecordedPlayer): Player {
  if (network === undefined || player.ip !== undefined || player.coordinates !== undefined) return player
  const bits = (network % NETWORKS).toString(16).padStart(6, '0')
  return { ...player, ip: `fd${bits.slice(0, 2)}:${bits.slice(2)}::1` }
}
