/** Tests servers left by processes that lose their store, through the whole matchmaker. */
import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import { duel } from './matchmaker.fixture.js'
import { createTestService } from '@muster/hosting/service-fixture'

const LIFE_MS = 60_000
const REAP_MS = 300_000
const MATCHES_PER_LIFE = 10

/**
 * Runs one process after another, each without the store of the last. Returns the number of servers left running
 * after each.
 */
async function live(lives: number, maxServers: number) {
  const clock = createManualClock()
  const service = createTestService({ clock, pageSize: 7 })
  const left: number[] = []
  for (let life = 0; life < lives; life += 1) {
    const matchmaker = createMatchmaker({
      deployments: service.deployments,
      queues: [duel],
      clock,
      random: seededRandom(life),
      orphanGraceMs: REAP_MS,
      maxServers,
    })
    for (let passed = 0; passed < LIFE_MS; passed += 500) {
      await matchmaker.tick()
      // Wait until the first list of deployments was read.
      for (let nth = 0; passed === 10_000 && nth < 2 * MATCHES_PER_LIFE; nth += 1) {
        matchmaker.createTicket({ queue: 'duel', players: [{ id: `p${life}-${nth}`, ip: '198.51.100.7' }] })
      }
      await clock.advance(500)
    }
    // The process is killed, not closed.
    left.push(service.unstopped().length)
  }
  return left
}

test('orphaned servers are stopped on time even if every process ends within the grace period', async () => {
  const left = await live(20, 1000)
  expect(Math.max(...left)).toBeLessThanOrEqual((REAP_MS / LIFE_MS + 1) * MATCHES_PER_LIFE)
  expect(left.at(-1)).toBe(left.at(-2))
})

test('servers left by earlier processes count towards the limit of servers', async () => {
  expect(Math.max(...(await live(8, 25)))).toBe(25)
})
