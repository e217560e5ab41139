import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createManualClock, systemClock } from '@muster/core/clock'
import { afterEach, expect, test } from 'vitest'
import { createEmulator, type Emulator } from './emulator.js'
import type { EmulatorOptions } from './options.js'
import { type PlaceBeacon, places, beacons as silent } from './places.js'
import { createBeacons } from './beacons.js'

const emulators: Emulator[] = []
afterEach(async () => {
  for (const emulator of emulators.splice(0)) await emulator.close()
})

async function listening(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ limits: false, ...options })
  emulators.push(emulator)
  await emulator.listen()
  return emulator
}

async function beaconsOf(emulator: Emulator): Promise<readonly PlaceBeacon[]> {
  const request = new Request('http://any/v1/locations/beacons?limit=100', { headers: { authorization: 'token dev' } })
  const { locations } = (await (await emulator.fetch(request)).json()) as { locations: readonly PlaceBeacon[] }
  return locations
}

/** Sends a text from one socket to each beacon. Resolves with the echoes by beacon once all have arrived. */
async function pinged(beacons: readonly PlaceBeacon[], text = 'ping'): Promise<ReadonlyMap<number, string>> {
  const socket = createSocket('udp4')
  const echoes = new Map<number, string>()
  for (const { udp_port, host } of beacons) socket.send(`${text} ${udp_port}`, udp_port, host)
  await new Promise<void>((resolve) => {
    socket.on('message', (data, { port }) => {
      echoes.set(port, data.toString())
      if (echoes.size === beacons.length) resolve()
    })
  })
  socket.close()
  return echoes
}

async function echoOver(beacon: PlaceBeacon, text: string): Promise<string> {
  const socket = connect(beacon.tcp_port, beacon.host).setEncoding('utf8')
  let echo = ''
  socket.on('data', (part: string) => (echo += part))
  socket.end(text)
  await once(socket, 'close')
  return echo
}

test('a beacon answers browsers over HTTP, one request after the other on a connection', async () => {
  const [beacon] = await beaconsOf(await listening())
  const { host = '', tcp_port = 0 } = beacon ?? {}
  for (let nth = 0; nth < 3; nth += 1) {
    const answer = await fetch(`http://${host}:${tcp_port}/`, { cache: 'no-store' })
    expect([answer.status, answer.headers.get('access-control-allow-origin'), await answer.text()]).toEqual([
      204,
      '*',
      '',
    ])
  }
  // A request in two pieces, and a message that only begins like a request.
  const socket = connect(tcp_port, host).setEncoding('latin1')
  let text = ''
  socket.on('data', (part: string) => (text += part))
  socket.write('GET / HTTP/1.1\r\nhost: a')
  await expect.poll(() => socket.bytesWritten).toBeGreaterThan(0)
  socket.end('\r\n\r\n')
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 204 [^]*\r\n\r\n$/)
  if (beacon !== undefined) expect(await echoOver(beacon, 'GET me')).toBe('GET me')
})

test('each beacon answers pings at its own ports, by UDP and TCP', async () => {
  const beacons = await beaconsOf(await listening())
  expect(beacons.map(({ location }) => location.city)).toEqual(places.map(({ location }) => location.city))
  expect(new Set(beacons.map(({ udp_port }) => udp_port)).size).toBe(places.length)
  expect(new Set(beacons.map(({ tcp_port }) => tcp_port)).size).toBe(places.length)
  for (const { host, fqdn, udp_port, tcp_port } of beacons) {
    expect([host, fqdn]).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(Math.max(udp_port, tcp_port)).toBeLessThanOrEqual(59_999)
  }
  const echoes = await pinged(beacons)
  for (const { udp_port } of beacons) expect(echoes.get(udp_port)).toBe(`ping ${udp_port}`)
  const long = 'x'.repeat(200_000)
  expect(await echoOver(beacons[0] as PlaceBeacon, 'hello')).toBe('hello')
  expect(await echoOver(beacons[1] as PlaceBeacon, long)).toBe(long)
})

test('beacons keep their ports until the emulator is closed', async () => {
  const emulator = await listening()
  const [first, second] = await Promise.all([beaconsOf(emulator), beaconsOf(emulator)])
  expect(second).toEqual(first)
  const [beacon] = first
  await emulator.close()
  await expect(echoOver(beacon as PlaceBeacon, 'hello')).rejects.toThrow('ECONNREFUSED')
})

test('closing the emulator waits for beacons that are being opened', async () => {
  const settings = { host: '127.0.0.1', publicIp: '127.0.0.1', from: undefined }
  const beacons = createBeacons({ clock: systemClock, settings, isListening: () => true })
  const asked = beacons.list()
  await beacons.close()
  const [beacon] = await asked
  expect(beacon?.host).toBe('127.0.0.1')
  await expect(echoOver(beacon as PlaceBeacon, 'hello')).rejects.toThrow('ECONNREFUSED')
})

test('beacons that are off or without a port do not answer', async () => {
  const unreachable = createEmulator()
  emulators.push(unreachable)
  expect(await beaconsOf(unreachable)).toEqual(silent)
  expect(await beaconsOf(await listening({ beacons: false }))).toEqual(silent)
})

test('beacon echoes take as long as a round trip from the configured place', async () => {
  const clock = createManualClock()
  const emulator = await listening({ clock, beacons: { from: { latitude: 52.5, longitude: 13.4 } } })
  const near = (await beaconsOf(emulator)).filter(({ location: { city } }) => ['Frankfurt', 'Auckland'].includes(city))
  const arrived: string[] = []
  const socket = createSocket('udp4').on('message', (data) => arrived.push(data.toString()))
  for (const { udp_port, host, location } of near) socket.send(location.city, udp_port, host)
  while (clock.sleepers < 2) await new Promise(setImmediate)
  const until = async (count: number) => {
    while (arrived.length < count) await new Promise(setImmediate)
  }
  await clock.advance(20)
  await until(1)
  expect(arrived).toEqual(['Frankfurt'])
  await clock.advance(250)
  expect(arrived).toEqual(['Frankfurt'])
  await clock.advance(50)
  await until(2)
  expect(arrived).toEqual(['Frankfurt', 'Auckland'])
  socket.close()
})

test('a beacon answers neither another beacon nor a datagram that is too long', async () => {
  const clock = createManualClock()
  const emulator = await listening({ clock, beacons: { from: { latitude: 0, longitude: 0 } } })
  const [beacon] = await beaconsOf(emulator)
  const { udp_port = 0, host = '' } = beacon ?? {}
  const socket = createSocket('udp4')
  socket.send(Buffer.alloc(1201), udp_port, host)
  socket.send('ping', udp_port, host)
  while (clock.sleepers === 0) await new Promise(setImmediate)
  expect(clock.sleepers).toBe(1)
  socket.close()
})

test('a beacon address that this machine does not have fails only the request', async () => {
  const errors: unknown[] = []
  const emulator = await listening({ beacons: { host: '203.0.113.9' }, onError: (error) => errors.push(error) })
  const request = () =>
    emulator.fetch(new Request('http://any/v1/locations/beacons', { headers: { authorization: 'token dev' } }))
  expect([(await request()).status, (await request()).status]).toEqual([500, 500])
  expect(String(errors[0])).toContain('EADDRNOTAVAIL')
  expect(() => createEmulator({ beacons: { host: 'localhost' } })).toThrow(/^option beacons/)
})
