/**
 * Measures what estimated waits cost in a queue with many kinds of tickets, in a process of its own. By hand: `node
 * bench/dist/matchmaker/wait-cost-process.js [URL of another build's matchmaker [players a second]]`.
 */
import { createManualClock, seededRandom } from '@muster/core/clock'
import type * as Own from '@muster/matchmaker'
import { unansweringService } from './services.js'

export interface WaitCost {
  /** Percentage of the time that was used for estimates of waits. */
  readonly share: number
  /** Milliseconds used for estimates, per second of the game. */
  readonly askedMs: number
  readonly totalMs: number
  readonly kinds: number
  readonly waiting: number
}

const PLAYERS_A_SECOND = Number(process.argv[3] ?? 400)
const TICK_MS = 250
/** Seconds before the measurement: half of the time that estimates remember. */
const WARM_UP_S = 600
const SECONDS = 240
const SIZES = 6
const PLACES = 34

const { createMatchmaker } = (await import(process.argv[2] || '@muster/matchmaker')) as typeof Own
const clock = createManualClock()
const matchmaker = createMatchmaker({
  deployments: unansweringService,
  queues: [
    {
      name: 'teams',
      teams: [{ name: 'team', count: 2, size: SIZES }],
      rules: [{ kind: 'distance', maxKm: 3000 }],
      deploy: { application: 'game', version: '1' },
    },
  ],
  clock,
  random: seededRandom(1),
  maxServers: Infinity,
  maxStarting: Infinity,
  maxMatchesPerPlayer: Infinity,
  maxServersPerPlayer: Infinity,
  stopwatch: () => 0,
  endedTicketTtlMs: 0,
})
const random = seededRandom(2)
const waiting = new Set<string>()
matchmaker.on('matchFound', ({ tickets }) => {
  for (const { id } of tickets) waiting.delete(id)
})
matchmaker.on('expired', ({ ticket }) => void waiting.delete(ticket.id))

let came = 0
let players = 0
let askedMs = 0
const come = () => {
  came += 1
  // Most players are in a few locations.
  const place = Math.floor(PLACES * random() ** 3)
  const coordinates = { latitude: 30 * Math.floor(place / 12) - 15, longitude: 30 * (place % 12) - 180 }
  const size = 1 + Math.floor(SIZES * random() ** 2)
  players += size
  const party = Array.from({ length: size }, (_, nth) => ({ id: `p${came}-${nth}`, coordinates }))
  const { id } = matchmaker.createTicket({ queue: 'teams', players: party })
  waiting.add(id)
  return size
}
const asking = (ask: () => void) => {
  const before = performance.now()
  ask()
  askedMs += performance.now() - before
}

matchmaker.start()
const started = { at: 0 }
for (let tick = 0; tick < ((WARM_UP_S + SECONDS) * 1000) / TICK_MS; tick += 1) {
  if (tick === (WARM_UP_S * 1000) / TICK_MS) {
    started.at = performance.now()
    askedMs = 0
  }
  const missing = (PLAYERS_A_SECOND * TICK_MS * (tick + 1)) / 1000 - players
  for (let more = 0; more < missing;) more += come()
  await clock.advance(TICK_MS)
  // Each waiting player requests an estimate once a second.
  const asked = [...waiting].filter((_, at) => at % 4 === tick % 4)
  asking(() => {
    for (const id of asked) matchmaker.estimateWait(id)
    matchmaker.estimateQueueWaits()
  })
}
const totalMs = performance.now() - started.at
const found: WaitCost = {
  share: (100 * askedMs) / totalMs,
  askedMs: askedMs / SECONDS,
  totalMs: totalMs / SECONDS,
  kinds: PLACES * SIZES,
  waiting: waiting.size,
}
if (process.send === undefined) console.log(found)
else process.send(found)
