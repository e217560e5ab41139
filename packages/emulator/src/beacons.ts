import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6, type Server, type Socket } from 'node:net'
import { greatCircleKm } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import { type PlaceBeacon, beacons as silentBeacons } from './places.js'
import type { BeaconSettings } from './settings.js'
import { createTimers, type Timers } from './timers.js'

interface OpenBeaconOptions {
  /** The IP address to which the beacon's ports are bound. */
  readonly host: string
  /** Milliseconds by which each echo is delayed. */
  readonly delayMs: number
  readonly timers: Timers
  /**
   * True if a port is a beacon's. Datagrams from beacons get no echo. Otherwise a datagram with a forged source would
   * be echoed between two beacons forever.
   */
  readonly isBeacon: (port: number) => boolean
}

/**
 * Highest port of a beacon. The service's beacons have ports from 0 to 59999 (service-api, Limits), but the system may
 * also assign higher ones.
 */
const HIGHEST_PORT = 59_999
const PORTS_TRIED = 50
/** Lowest port whose datagrams are echoed. Lower ports belong to services that might answer an echo. */
const LOWEST_CLIENT_PORT = 1024
/** Maximum length of a ping in bytes. Longer datagrams are ignored. */
const LONGEST_PING = 1200
/** Maximum number of pending echoes of one beacon. Further datagrams are dropped. */
const MOST_UNDER_WAY = 1000
const MOST_CONNECTIONS = 64
const IDLE_MS = 10_000
/**
 * Matches an HTTP request. Browsers measure with HTTP requests, and log an error for other responses, so they get an
 * empty HTTP response.
 */
const BROWSER = /^(?:GET|HEAD|OPTIONS) \/\S* HTTP\/1\.[01]\r\n/
const END_OF_HEAD = '\r\n\r\n'
const LONGEST_HEAD = 16 * 1024
const HTTP_ANSWER =
  'HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\naccess-control-allow-private-network: true\r\n' +
  'cache-control: no-store\r\ntiming-allow-origin: *\r\n\r\n'

/**
 * Opens a beacon. It echoes datagrams to its UDP port and data on connections to its TCP port. On the TCP port it also
 * answers the HTTP requests of browsers.
 * @throws the system's error if no port is free or the address does not exist.
 */
async function openBeacon(options: OpenBeaconOptions) {
  const udp = await openUdp(options)
  try {
    const tcp = await openTcp(options)
    const close = async () => void (await Promise.all([closeUdp(udp), tcp.close()]))
    return { udpPort: udp.address().port, tcpPort: portOf(tcp.server), close }
  } catch (error) {
    await closeUdp(udp)
    throw error
  }
}

async function openUdp({ host, delayMs, timers, isBeacon }: OpenBeaconOptions): Promise<UdpSocket> {
  const socket = await tried(async () => {
    const candidate = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    await bound(candidate, () => candidate.bind({ address: host, port: 0, exclusive: true }))
    return { found: candidate, port: candidate.address().port, close: () => closeUdp(candidate) }
  })
  let underWay = 0
  socket.on('message', (ping, { port, address }) => {
    if (ping.length > LONGEST_PING || port < LOWEST_CLIENT_PORT || isBeacon(port)) return
    if (delayMs === 0) return socket.send(ping, port, address)
    if (underWay === MOST_UNDER_WAY) return
    underWay++
    timers.after(delayMs, () => {
      underWay--
      socket.send(ping, port, address)
    })
  })
  // Errors are ignored, because the receiver of an echo may no longer exist.
  socket.on('error', () => {})
  // Unreferenced, so that an emulator that was not closed does not keep the process alive.
  return socket.unref()
}

async function openTcp({ host, delayMs, timers }: OpenBeaconOptions) {
  const connections = new Set<Socket>()
  const accept = (socket: Socket) => {
    connections.add(socket.unref())
    socket.setNoDelay().setTimeout(IDLE_MS, () => socket.destroy())
    socket.once('close', () => connections.delete(socket))
    socket.on('error', () => socket.destroy())
    let request = ''
    socket.on('data', (ping) => {
      request += request === '' && !BROWSER.test(ping.toString('latin1')) ? '' : ping.toString('latin1')
      if (request !== '' && !request.includes(END_OF_HEAD) && request.length < LONGEST_HEAD) return
      const reply = request === '' ? ping : HTTP_ANSWER
      request = ''
      // Data is echoed one chunk at a time, so that a client that sends without reading cannot fill the memory.
      socket.pause()
      const echo = () => void socket.write(reply, () => socket.resume())
      if (delayMs === 0) echo()
      else timers.after(delayMs, echo)
    })
  }
  const server = await tried(async () => {
    const candidate = createServer(accept)
    candidate.maxConnections = MOST_CONNECTIONS
    await bound(candidate, () => candidate.listen({ host, port: 0, exclusive: true }))
    return { found: candidate, port: portOf(candidate), close: () => closeTcp(candidate) }
  })
  const close = async () => {
    const closed = closeTcp(server)
    for (const socket of connections) socket.destroy()
    await closed
  }
  return { server: server.unref(), close }
}

interface BoundPort<T> {
  readonly found: T
  readonly port: number
  close(): Promise<void>
}

/** Opens sockets until the system assigns a port that beacons may have. */
async function tried<T>(open: () => Promise<BoundPort<T>>): Promise<T> {
  const unfit: BoundPort<T>[] = []
  try {
    while (unfit.length < PORTS_TRIED) {
      const candidate = await open()
      if (candidate.port <= HIGHEST_PORT) return candidate.found
      // Unsuitable sockets stay open until a suitable one is found, so that the system does not assign their ports
      // again.
      unfit.push(candidate)
    }
    throw new Error(`no free port up to ${HIGHEST_PORT} for a beacon`)
  } finally {
    await Promise.all(unfit.map(({ close }) => close()))
  }
}

async function bound(socket: UdpSocket | Server, bind: () => void): Promise<void> {
  const listening = once(socket, 'listening')
  bind()
  await listening
}

const portOf = (server: Server) => (server.address() as { readonly port: number }).port
const closeUdp = (socket: UdpSocket): Promise<void> => new Promise((resolve) => socket.close(() => resolve()))
const closeTcp = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

/** Milliseconds spent in the access networks at both ends. */
const ACCESS_MS = 4
/**
 * Milliseconds of round trip per kilometre of great circle. Light travels 200 km per millisecond in fibre. Routes are
 * about 1.6 times as long as the great circle (our choice). A round trip covers the route twice.
 */
const MS_PER_KM = (2 * 1.6) / 200

/** Returns the round-trip time in milliseconds: about 20 for 1,000 km, about 100 across the Atlantic. */
export const roundTripMs = (km: number): number => ACCESS_MS + km * MS_PER_KM

/** The beacons, one for each location. Players ping them to measure round trips. */
export type Beacons = ReturnType<typeof createBeacons>

interface BeaconsDeps {
  /** The clock that delays the echoes. */
  readonly clock: Clock
  /** The settings; undefined if beacons never answer. */
  readonly settings: BeaconSettings | undefined
  /**
   * Returns true if the emulator listens. Beacons are opened only then, because callers within the process use no
   * ports.
   */
  readonly isListening: () => boolean
}

export function createBeacons({ clock, settings, isListening }: BeaconsDeps) {
  const timers = createTimers(clock, 1)
  const ports = new Set<number>()
  const open: Awaited<ReturnType<typeof openBeacon>>[] = []
  let opened: Promise<readonly PlaceBeacon[]> | undefined
  let closed = false

  const answering = async ({ host, publicIp, from }: BeaconSettings, beacon: PlaceBeacon): Promise<PlaceBeacon> => {
    const delayMs = from === undefined ? 0 : roundTripMs(greatCircleKm(from, beacon.location))
    const opening = await openBeacon({ host, delayMs, timers, isBeacon: (port) => ports.has(port) })
    open.push(opening)
    ports.add(opening.udpPort)
    return { ...beacon, host: publicIp, fqdn: publicIp, udp_port: opening.udpPort, tcp_port: opening.tcpPort }
  }

  const openAll = async (chosen: BeaconSettings) => {
    const all = await Promise.allSettled(silentBeacons.map((beacon) => answering(chosen, beacon)))
    const failed = all.find((one) => one.status === 'rejected')
    if (failed === undefined) return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    // The failed attempt is dropped, so that the next caller tries to open the ports again.
    opened = undefined
    ports.clear()
    await Promise.all(open.splice(0).map((beacon) => beacon.close()))
    throw failed.reason
  }

  return {
    list: async (): Promise<readonly PlaceBeacon[]> => {
      if (settings === undefined || closed || (opened === undefined && !isListening())) return silentBeacons
      return (opened ??= openAll(settings))
    },
    close: async () => {
      closed = true
      timers.close()
      await opened?.catch(() => {})
      await Promise.all(open.splice(0).map((beacon) => beacon.close()))
    },
  }
}
