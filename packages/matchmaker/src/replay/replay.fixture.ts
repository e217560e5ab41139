import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMatchmaker } from '../create-matchmaker.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { Player } from '@muster/hosting/internal'
import { recordTickets, type RecordOptions } from './record-tickets.js'
import type { replayTickets } from './replay-tickets.js'
import { createStubService } from './stub-service.js'

const deploy = { application: 'game', version: '1' }
export const skill = {
  kind: 'difference',
  attribute: 'skill',
  max: [
    { afterMs: 0, value: 50 },
    { afterMs: 2000, value: 200 },
  ],
} as const
export const duel: QueueDefinition = { name: 'duel', matchSize: 2, rules: [skill], expireAfterMs: 10_000, deploy }

export const START_MS = 5000
export const oslo = { latitude: 59.9, longitude: 10.7 }
export const rated = (id: string, value: number): Player => ({ id, coordinates: oslo, attributes: { skill: value } })

/** Creates a recorded matchmaker on a manual clock, and collects the matches that it makes. */
export function setUp(queues: readonly QueueDefinition[] = [duel], recording: RecordOptions = {}) {
  const clock = createManualClock()
  const plain = createMatchmaker({
    deployments: createStubService(clock, START_MS),
    queues,
    clock,
    random: seededRandom(99),
    locate: recording.locate,
    maxServers: Infinity,
    maxStarting: Infinity,
  })
  const lines: string[] = []
  const matchmaker = recordTickets(plain, (line) => lines.push(line), { clock, queues, ...recording })
  const matches = new Map<string, Set<string>>()
  plain.on('serverAssigned', ({ matchId, tickets }) => {
    const ids = matches.get(matchId) ?? new Set()
    matches.set(matchId, ids)
    for (const { id } of tickets) ids.add(id)
  })
  matchmaker.start()
  const pass = (ms: number) => clock.advance(ms)
  const played = () => Array.from(matches.values(), (ids) => [...ids].toSorted()).toSorted()
  const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { clock, matchmaker, plain, lines, parsed, pass, played }
}

export const playedIn = ({ matches }: Awaited<ReturnType<typeof replayTickets>>) =>
  matches.map(({ tickets }) => tickets.map(({ id }) => id).toSorted()).toSorted()
