import { createClient } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createLobbies, createRelaySessions, type Lobbies } from '@muster/relay'
import { faultReports, type FaultReport } from '../fault-report.js'
import type { DemoOptions } from '../options.js'
import type { Player } from '../players.js'
import { badDay } from './faults.js'

/** Factor by which sessions become ready faster than in reality. Packets are not sped up. */
const SPEED = 10
/**
 * Milliseconds after which a session that is not ready is given up. It is short, so that the demo does not wait long.
 */
const READY_TIMEOUT_MS = 2000

/** The service on a port with a relay that carries packets, and the lobbies of a game's backend. */
export interface Arcade {
  readonly lobbies: Lobbies
  /** Returns the number of packets in both directions, as the relay counts them. */
  packetsRelayed(): number
  sessions(): { readonly open: number; readonly opened: number }
  /** Returns the effects of the declared faults. */
  faults(): readonly FaultReport[]
  /** Closes lobbies and sessions. @returns the number of sessions that the service still has. */
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
    // Webhooks of the service are handled in this process, without a port.
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
