import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { createManualClock } from '@muster/core/clock'
import { onTestFinished } from 'vitest'
import { answerOf, relayState, type RelayState } from '../relays/packet.js'
import { createPeer, type PeerOptions } from './peer.js'

export const userToken = 4_000_000_001
export const sessionToken = 3_500_589_645

/** A fake relay that sends the configured answers, with a client and a host connected to it. */
export async function fakeRelay(options: Partial<PeerOptions> = {}) {
  const clock = createManualClock()
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const heard: Buffer[] = []
  let peerAt: RemoteInfo | undefined
  let answers: RelayState | undefined = relayState.valid
  const send = (datagram: Buffer) => peerAt && socket.send(datagram, peerAt.port, peerAt.address)
  socket.on('message', (datagram, from) => {
    heard.push(datagram)
    peerAt = from
    if (answers !== undefined) send(answerOf(answers))
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')

  const at = { host: '127.0.0.1', port: socket.address().port, userToken, sessionToken, clock, ...options }
  const client = createPeer({ ...at, role: 'client' })
  const host = createPeer({ ...at, role: 'host' })
  onTestFinished(() => client.close())
  onTestFinished(() => host.close())
  return {
    clock,
    heard,
    client,
    host,
    send,
    /** Sets the answer to pings; undefined for no answer. */
    answer: (state: RelayState | undefined) => {
      answers = state
    },
  }
}
