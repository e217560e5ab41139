/** Many lobbies in a process of their own. Measures how long joins take, and how much memory all lobbies need. */
import { createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { createLobbies, createRelaySessions } from '@muster/relay'
import { followCollections } from './collections.js'
import { evenly } from './evenly.js'
import {
  JOINS_PER_SECOND,
  LOBBIES,
  MEMBERS,
  type JoinRound,
  type LobbiesMeasured,
  type Percentiles,
} from './lobby-messages.js'

const ROUNDS = 5
/** Milliseconds between two heartbeats of a member who follows the lobby's events. */
const HEARTBEAT_EVERY_MS = 10_000
/** Milliseconds after a heartbeat for which further ones are not recorded (at the default rules). */
const HEARTBEAT_COUNTS_AFTER_MS = 5000
const MICROSECONDS = 1000

const { gc } = globalThis
if (gc === undefined) throw new Error('needs --expose-gc')
const heap = () => {
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const before = heap()
// No relay session is started, so the address is never called.
const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'nobody' })
const relay = createRelaySessions({ client: client.relays })
const lobbies = createLobbies({ relay, reapMs: null })
const collections = followCollections()

const player = (lobby: number, slot: number) => ({
  id: `player-${lobby}-${slot}`,
  ip: `10.${lobby >> 8}.${lobby & 255}.${slot}`,
})

let refused = 0

interface Filled {
  readonly number: number
  readonly lobbyId: string
  readonly code: string
}

/** Creates a lobby, and fills all slots except the last one. */
async function fill(number: number): Promise<Filled> {
  const { lobbyId, code } = await lobbies.create({
    player: player(number, 0),
    maxPlayers: MEMBERS,
    visibility: 'private',
  })
  for (let slot = 1; slot < MEMBERS - 1; slot += 1) await lobbies.join({ player: player(number, slot), code })
  return { number, lobbyId, code }
}

/** Number of heartbeats in all rounds, so that each member sends one in turn. */
let beats = 0

async function beat(filled: readonly Filled[]): Promise<void> {
  const { number, lobbyId, code } = filled[beats % filled.length] as Filled
  const slot = Math.floor(beats / filled.length) % (MEMBERS - 1)
  beats += 1
  const member = player(number, slot)
  // On a slow machine, a member may count as away by then, and joins again.
  await lobbies.heartbeat({ lobbyId, playerId: member.id }).catch(() => lobbies.join({ player: member, code }))
}

/** Lets the last player of every lobby join, while the other members send heartbeats. */
async function joinLast(filled: readonly Filled[]): Promise<JoinRound> {
  const latencies = new Float64Array(filled.length)
  const waits = new Float64Array(filled.length)
  const join = async (index: number, dueAt: number) => {
    waits[index] = (performance.now() - dueAt) * MICROSECONDS
    const { number, code } = filled[index] as Filled
    await lobbies.join({ player: player(number, MEMBERS - 1), code }).catch(() => void (refused += 1))
    latencies[index] = (performance.now() - dueAt) * MICROSECONDS
  }
  const seconds = filled.length / JOINS_PER_SECOND
  const beatsPerSecond = (filled.length * (MEMBERS - 1)) / (HEARTBEAT_EVERY_MS / 1000)
  const since = performance.now()
  collections.reset()
  await evenly([
    { count: filled.length, perSecond: JOINS_PER_SECOND, call: join },
    { count: seconds * beatsPerSecond, perSecond: beatsPerSecond, call: () => beat(filled) },
  ])
  return {
    joinMicroseconds: percentiles(latencies),
    waitMicroseconds: percentiles(waits),
    joinsPerSecond: Math.round((filled.length / (performance.now() - since)) * 1000),
    ...(await collections.found()),
  }
}

const leaveLast = async (filled: readonly Filled[]) => {
  for (const { lobbyId, number } of filled) await lobbies.leave({ lobbyId, playerId: player(number, MEMBERS - 1).id })
}

const fillingSince = systemClock.now()
const filled: Filled[] = []
for (let number = 0; number < LOBBIES; number += 1) filled.push(await fill(number))
const fillSeconds = (systemClock.now() - fillingSince) / 1000

const random = seededRandom(1)
const shuffled = filled
  .map((one) => ({ one, at: random() }))
  .toSorted((a, b) => a.at - b.at)
  .map(({ one }) => one)
await systemClock.sleep(HEARTBEAT_COUNTS_AFTER_MS)
const rounds: JoinRound[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  if (round > 0) await leaveLast(shuffled)
  rounds.push(await joinLast(shuffled))
}

const measured: LobbiesMeasured = {
  rounds,
  joinsRefused: refused,
  fillPerSecond: Math.round((LOBBIES * (MEMBERS - 1)) / fillSeconds),
  bytesEach: Math.round((heap() - before) / LOBBIES),
}
process.send?.(measured)
process.on('disconnect', () => process.exit())

function percentiles(values: Float64Array): Percentiles {
  const sorted = values.toSorted()
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number)
  return { p50: at(0.5), p99: at(0.99), most: at(1) }
}
