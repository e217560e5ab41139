import { createManualClock, seededRandom } from '@muster/core/clock'
import { createMatchmaker, recordTickets, type QueueDefinition } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'

export const duel: QueueDefinition = {
  name: 'duel',
  matchSize: 2,
  rules: [{ kind: 'difference', attribute: 'skill', max: 100 }],
  expireAfterMs: 60_000,
  deploy: { application: 'game', version: '1' },
}

export const player = (id: string, skill = 0, latitude = 59.9) => ({
  id,
  coordinates: { latitude, longitude: 10.7 },
  attributes: { skill },
})

/** Creates a recorded matchmaker on a manual clock that begins at 1,000,000. */
export function recordedMatchmaker(queues: readonly QueueDefinition[] = [duel]) {
  const clock = createManualClock({ start: 1_000_000 })
  const plain = createMatchmaker({
    deployments: createStubService(clock, 5000),
    queues,
    clock,
    random: seededRandom(99),
    maxServers: Infinity,
    maxStarting: Infinity,
  })
  const lines: string[] = []
  const matchmaker = recordTickets(plain, (line) => lines.push(line), { clock, queues })
  matchmaker.start()
  return { clock, matchmaker, plain, lines, pass: (ms: number) => clock.advance(ms) }
}
