import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Latencies } from './latencies.js'
import { readPacket, writePacket } from './packet.js'

/** Two sockets without a relay between them. They show how long a packet takes in this process without the relay. */
export interface DirectPair {
  send(): void
  close(): void
}

export async function openDirectPair(latencies: Latencies): Promise<DirectPair> {
  const [sender, receiver] = [createSocket('udp4'), createSocket('udp4')]
  await once(receiver.bind(0, '127.0.0.1'), 'listening')
  sender.connect(receiver.address().port, '127.0.0.1')
  await once(sender, 'connect')
  receiver.on('message', (packet) => latencies.add(performance.now() - readPacket(packet).sentAt))
  return {
    send: () => sender.send(writePacket(0, performance.now())),
    close: () => {
      for (const socket of [sender, receiver] satisfies Socket[]) socket.close()
    },
  }
}
