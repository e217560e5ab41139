import { createPortPool } from '../deployments/port-pool.js'
import { places, type Place } from '../places.js'

/** The address and ports to which the peers of one session send packets. */
export interface RelayAddress {
  readonly place: Place
  readonly ip: string
  readonly host: string
  /** The UDP port of the host peer. */
  readonly serverPort: number
  /** The UDP port of all other peers. */
  readonly clientPort: number
}

/** The simulated relays of all places, and their ports. */
export interface RelayPorts {
  /** Takes two ports at the place's relay; undefined when too few are free. */
  take(place: Place): RelayAddress | undefined
  give(address: RelayAddress): void
}

const RANGE = { from: 30_000, to: 59_999 }

/** Creates one relay per place, at a documentation address (RFC 5737), where nothing listens. */
export function createRelayPorts(): RelayPorts {
  const pools = new Map(
    places.map(({ id }, index) => [id, { pool: createPortPool(RANGE), ip: `192.0.2.${index + 1}` }]),
  )
  return {
    take: (place) => {
      const relay = pools.get(place.id)
      const [serverPort, clientPort] = relay?.pool.take(2) ?? []
      if (relay === undefined || serverPort === undefined || clientPort === undefined) return undefined
      return { place, ip: relay.ip, host: `relay-${place.id}.emulator.invalid`, serverPort, clientPort }
    },
    give: ({ place, serverPort, clientPort }) => pools.get(place.id)?.pool.give([serverPort, clientPort]),
  }
}
