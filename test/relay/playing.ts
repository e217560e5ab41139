import { createPeer, type ClientPeer, type HostPeer } from '@muster/emulator/peer'
import type { RelayCredentials } from '@muster/relay'
import { eventually } from './arcade.js'

/** Starts a host that echoes each packet with its own name in front. */
export async function hostBy(credentials: RelayCredentials, name: string): Promise<HostPeer> {
  const peer = createPeer({ ...credentials, role: 'host', pingMs: 100 })
  peer.onMessage(({ connectionId, data }) => peer.send(connectionId, Buffer.concat([Buffer.from(`${name}:`), data])))
  await peer.connect()
  return peer
}

export async function joinBy(credentials: RelayCredentials): Promise<ClientPeer> {
  const peer = createPeer({ ...credentials, role: 'client', pingMs: 100 })
  await peer.connect()
  return peer
}

/**
 * Sends numbered packets until the host has returned each of them.
 * @returns the numbers in order of arrival, and how often each was sent
 */
export async function exchange(
  peer: ClientPeer,
  from: string,
  host: string,
): Promise<{ readonly order: readonly number[]; readonly rounds: number }> {
  const missing = new Set(Array.from({ length: 20 }, (_, number) => number))
  const order: number[] = []
  let rounds = 0
  const off = peer.onMessage(({ data }) => {
    const [sender, number] = data.toString().replace(`${host}:`, '').split('-')
    if (sender === from && missing.delete(Number(number))) order.push(Number(number))
  })
  await eventually(`the packets of ${from}`, () => {
    if (missing.size === 0) return true
    rounds += 1
    for (const number of missing) peer.send(Buffer.from(`${from}-${number}`))
    return undefined
  })
  off()
  return { order, rounds }
}
