import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { seededRandom } from '@muster/core/clock'
import { expect, onTestFinished, test } from 'vitest'
import { pingPacket, relayState } from '../relays/packet.js'
import { eventually, messages, relayed } from './session.fixture.js'

/** Opens a socket of an attacker, which sends any datagrams and records the answers. */
async function stranger() {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const heard: Buffer[] = []
  socket.on('message', (datagram) => heard.push(datagram))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const send = (datagram: Buffer, port: number) =>
    new Promise<void>((resolve, reject) =>
      socket.send(datagram, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
    )
  return { heard, send }
}

async function playing() {
  const made = relayed()
  const session = await made.open(['198.51.100.1', '198.51.100.2'])
  const host = made.hostOf(session)
  const client = made.clientOf(session, session.session_users[1]?.authorization_token)
  await host.connect()
  await client.connect()
  const stillPlays = async () => {
    const heard = messages(host, 1)
    client.send(Buffer.from('still here'))
    expect((await heard)[0]?.data.toString()).toBe('still here')
  }
  return { ...made, session, stillPlays }
}

test('a flood of wrong relay tokens gets five short answers and affects no other peer', async () => {
  const { emulator, session, stillPlays, clock } = await playing()
  const { heard, send } = await stranger()
  const { client, server } = session.relay.ports
  for (let guess = 0; guess < 200; guess++)
    await send(pingPacket(guess, session.authorization_token), guess % 2 === 0 ? client.port : server.port)
  await eventually(() => emulator.counters.packets.dropped.invalidToken === 200)
  await stillPlays()
  expect(heard).toEqual(Array.from({ length: 5 }, () => Buffer.of(1, relayState.invalid)))

  await clock.advance(1000)
  await send(pingPacket(0, 0), client.port)
  await eventually(() => heard.length === 6)
})

test('a relay session still passes packets after malformed and random datagrams', async () => {
  const { emulator, session, stillPlays } = await playing()
  const { send } = await stranger()
  const random = seededRandom(20_26)
  const below = (limit: number) => Math.floor(random() * limit)
  const { client, server } = session.relay.ports
  const before = emulator.counters.packets.received
  const count = 300
  for (let sent = 0; sent < count; sent++) {
    const length = sent % 3 === 0 ? below(20) : below(sent % 10 === 0 ? 60_000 : 1400)
    const datagram = Buffer.from(Array.from({ length }, () => below(256)))
    // Half of the datagrams are almost valid packets.
    if (length > 8 && random() < 0.5) {
      datagram.writeUInt32LE(session.authorization_token, 4)
      datagram[8] = 1 + below(2)
    }
    await send(datagram, random() < 0.5 ? client.port : server.port)
    // Waiting here keeps the receive buffers from overflowing, which is not what is tested.
    await eventually(() => emulator.counters.packets.received === before + sent + 1)
  }
  const { dropped } = emulator.counters.packets
  expect(dropped.malformed + dropped.invalidToken).toBe(count)
  expect(dropped.malformed).toBeGreaterThan(50)
  expect(dropped.invalidToken).toBeGreaterThan(50)
  await stillPlays()
})

const freePort = async (port: number): Promise<Socket> => {
  const socket = createSocket('udp4')
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  await once(socket, 'listening')
  return socket
}

test('relay ports are free again when the session is deleted, and when the emulator is closed', async () => {
  const { emulator, open, end } = relayed()
  const [one, two] = [await open(['198.51.100.1']), await open(['198.51.100.1'])]
  const ports = ({ relay }: typeof one) => [relay.ports.server.port, relay.ports.client.port]
  for (const port of [...ports(one), ...ports(two)])
    await expect(freePort(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await end(one)
  for (const port of ports(one)) (await freePort(port)).close()
  for (const port of ports(two)) await expect(freePort(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await emulator.close()
  for (const port of ports(two)) (await freePort(port)).close()
})
