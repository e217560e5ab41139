/** Many lobbies in a process of their own: how long joins take, and how much memory all of it. */
import { createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { createLobbies, createRelaySessions } from '@muster/relay'
import { LOBBIES, MEMBERS, type LobbiesMeasured } from './lobby-messages.js'

const JOINS_PER_SECOND = 2000
/** As often as a member who follows the lobby's events is heard of. */
const HEARTBEAT_EVERY_MS = 10_000
/** Signs of life that come sooner after the last are not written down (at the default rules). */
const HEARTBEAT_COUNTS_AFTER_MS = 5000
const STEP_MS = 1
const MICROSECONDS = 1000

const { gc } = globalThis
if (gc === undefined) throw new Error('needs --expose-gc')
const heap = () => {
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const before = heap()
// Nothing is started here, so nobody is called.
const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'nobody' })
const relay = createRelaySessions({ client: client.relays })
const lobbies = createLobbies({ relay, reapMs: null })

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

/** All but the last slot. */
async function fill(number: number): Promise<Filled> {
  const { lobbyId, code } = await lobbies.create({
    player: player(number, 0),
    maxPlayers: MEMBERS,
    visibility: 'private',
  })
  for (let slot = 1; slot < MEMBERS - 1; slot += 1) await lobbies.join({ player: player(number, slot), code })
  return { number, lobbyId, code }
}

/** At equal distances, as well as timers can. What is late is made up for, and counts from when it was due. */
async function evenly(count: number, perSecond: number, call: (index: number, dueAt: number) => void): Promise<void> {
  const start = performance.now()
  for (let index = 0; index < count;) {
    await systemClock.sleep(STEP_MS)
    for (; index < count; index += 1) {
      const dueAt = start + (index / perSecond) * 1000
      if (dueAt > performance.now()) break
      call(index, dueAt)
    }
  }
}

/** The last player of every lobby comes, while the others are heard of now and then. */
async function joinLast(filled: readonly Filled[]): Promise<Float64Array> {
  const latencies = new Float64Array(filled.length)
  const calls: Promise<void>[] = []
  const join = async (index: number, dueAt: number) => {
    const { number, code } = filled[index] as Filled
    await lobbies.join({ player: player(number, MEMBERS - 1), code }).catch(() => void (refused += 1))
    latencies[index] = (performance.now() - dueAt) * MICROSECONDS
  }
  const beat = async (index: number) => {
    const { number, lobbyId } = filled[index % filled.length] as Filled
    const slot = Math.floor(index / filled.length) % (MEMBERS - 1)
    await lobbies.heartbeat({ lobbyId, playerId: player(number, slot).id })
  }
  const seconds = filled.length / JOINS_PER_SECOND
  const beatsPerSecond = (filled.length * (MEMBERS - 1)) / (HEARTBEAT_EVERY_MS / 1000)
  await Promise.all([
    evenly(filled.length, JOINS_PER_SECOND, (index, dueAt) => void calls.push(join(index, dueAt))),
    evenly(seconds * beatsPerSecond, beatsPerSecond, (index) => void calls.push(beat(index))),
  ])
  await Promise.all(calls)
  return latencies
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
const since = systemClock.now()
const usedBefore = process.cpuUsage()
const sorted = (await joinLast(shuffled)).toSorted()
const joinSeconds = (systemClock.now() - since) / 1000
const { user, system } = process.cpuUsage(usedBefore)

const measured: LobbiesMeasured = {
  joinMicroseconds: { p50: at(0.5), p99: at(0.99), most: at(1) },
  joinsRefused: refused,
  joinsPerSecond: Math.round(LOBBIES / joinSeconds),
  cpuShare: Number(((user + system) / joinSeconds / 1e6).toFixed(2)),
  fillPerSecond: Math.round((LOBBIES * (MEMBERS - 1)) / fillSeconds),
  bytesEach: Math.round((heap() - before) / LOBBIES),
}
process.send?.(measured)
process.on('disconnect', () => process.exit())

function at(share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number)
}
