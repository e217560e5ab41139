import { createClient } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createLobbies, createRelaySessions, type Lobbies } from '@muster/relay'
import { faultReports, type FaultReport } from '../fault-report.js'
import type { DemoOptions } from '../options.js'
import type { Player } from '../players.js'
import { badDay } from './faults.js'

/** Sessions become ready this many times faster than they would; packets take what they take. */
const SPEED = 10
/** What is never ready is given up soon, so that the demo does not wait for it. */
const READY_TIMEOUT_MS = 2000

/** The service on a port, with a relay that carries packets; and what a game's backend makes of it. */
export interface Arcade {
  readonly lobbies: Lobbies
  /** As the relay counts them, there and back. */
  packetsRelayed(): number
  sessions(): { readonly open: number; readonly opened: number }
  /** What the declared faults have done. */
  faults(): readonly FaultReport[]
  /** Closes lobbies and sessions. @returns how many sessions the service still has. */
  endSessions(): Promise<number>
  close(): Promise<void>
}

export async function openArcade({ seed, faults }: DemoOptions, places: ReadonlyMap<string, Player>): Promise<Arcade> {
  const emulator = createEmulator({
    random: seededRandom(seed),
    speed: SPEED,
    relayData: true,
    locate: (ip) => places.get(ip),
    faults: faults ? badDay : [],
    // The service's webhooks come in here, without a port of their own.
    fetch: (url, init) => relay.webhook(new Request(url, init)),
  })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: 'dev', random: seededRandom(seed) })
  const relay = createRelaySessions({
    client: client.relays,
    webhookBaseUrl: 'http://127.0.0.1/relay-hooks',
    readyTimeoutMs: READY_TIMEOUT_MS,
  })
  const lobbies = createLobbies({ relay })
  let opened = 0
  relay.events.on('opened', () => void (opened += 1))
  const open = () => emulator.inspect().relaySessions.length

  return {
    lobbies,
    packetsRelayed: () => emulator.counters.packets.relayed,
    sessions: () => ({ open: open(), opened }),
    faults: () => faultReports(emulator.faults.counts()),
    endSessions: async () => {
      await lobbies.close()
      await relay.close()
      return open()
    },
    close: async () => {
      await client.close()
      await emulator.close()
    },
  }
}
