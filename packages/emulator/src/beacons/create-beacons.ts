import { greatCircleKm } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { beacons as silentBeacons, type PlaceBeacon } from '../places.js'
import { createTimers } from '../timers.js'
import type { BeaconSettings } from './beacon-settings.js'
import { openBeacon, type OpenBeacon } from './open-beacon.js'
import { roundTripMs } from './round-trip.js'

/** The ping beacons: the hosts to which players measure round trips, one per place. */
export interface Beacons {
  list(): Promise<readonly PlaceBeacon[]>
  close(): Promise<void>
}

export interface BeaconsDeps {
  /** Delays the echoes. */
  readonly clock: Clock
  /** The settings; undefined where beacons never answer. */
  readonly settings: BeaconSettings | undefined
  /**
   * Whether the emulator listens. Beacons are opened only then, because in-process callers of the emulator use no
   * ports.
   */
  readonly isListening: () => boolean
}

export function createBeacons({ clock, settings, isListening }: BeaconsDeps): Beacons {
  const timers = createTimers(clock, 1)
  const ports = new Set<number>()
  const open: OpenBeacon[] = []
  let opened: Promise<readonly PlaceBeacon[]> | undefined
  let closed = false

  const answering = async ({ host, publicIp, from }: BeaconSettings, beacon: PlaceBeacon): Promise<PlaceBeacon> => {
    const delayMs = from === undefined ? 0 : roundTripMs(greatCircleKm(from, beacon.location))
    const { udpPort, tcpPort } = await opening({ host, delayMs, timers, isBeacon: (port) => ports.has(port) })
    return { ...beacon, host: publicIp, fqdn: publicIp, udp_port: udpPort, tcp_port: tcpPort }
  }

  const opening = async (options: Parameters<typeof openBeacon>[0]) => {
    const beacon = await openBeacon(options)
    open.push(beacon)
    ports.add(beacon.udpPort)
    return beacon
  }

  const openAll = async (chosen: BeaconSettings) => {
    const all = await Promise.allSettled(silentBeacons.map((beacon) => answering(chosen, beacon)))
    const failed = all.find((one) => one.status === 'rejected')
    if (failed === undefined) return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    // The failed attempt is forgotten, so that the next caller tries to open the ports again.
    opened = undefined
    ports.clear()
    await Promise.all(open.splice(0).map((beacon) => beacon.close()))
    throw failed.reason
  }

  return {
    list: async () => {
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
