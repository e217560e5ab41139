import { createPortPool } from '../deployments/port-pool.js'
import { places, type Place } from '../places.js'

/** Where the peers of one session send their packets. */
export interface RelayAddress {
  readonly place: Place
  readonly ip: string
  readonly host: string
  /** UDP: the hosting peer's. */
  readonly serverPort: number
  /** UDP: everybody else's. */
  readonly clientPort: number
}

/** The relays of all places, and their ports. */
export interface RelayPorts {
  /** Undefined when the place's relay has none left. */
  take(place: Place): RelayAddress | undefined
  give(address: RelayAddress): void
}

const RANGE = { from: 30_000, to: 59_999 }

/** One relay per place, at an address that belongs to nobody (RFC 5737): nothing listens there. */
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
