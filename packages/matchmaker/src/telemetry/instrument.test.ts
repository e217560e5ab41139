import { expect, test } from 'vitest'
import { setUp as setUpMatchmaker } from '../matchmaker.fixture.js'
import { setUp } from './telemetry.fixture.js'

test('metrics and spans cover a match from ticket to server, without players or addresses', async () => {
  const { clock, matchmaker, join, run } = setUpMatchmaker()
  const { measured, spans } = setUp({ matchmaker, clock })
  join('ann')
  join('ben')
  join('cem')
  await run(10_000)
  const told = await measured()
  expect(told).toMatchObject({
    'muster.tickets.created{"muster.queue":"duel"}': 3,
    'muster.matches.found{"muster.queue":"duel"}': 1,
    'muster.match.players{"muster.queue":"duel"}': { count: 1, sum: 2 },
    'muster.tickets.ended{"muster.queue":"duel","muster.outcome":"assigned"}': 2,
    'muster.tickets.waiting{"muster.queue":"duel","muster.waiting_for":"players"}': 1,
    'muster.deployments.created{"muster.queue":"duel"}': 1,
    'muster.deployments{"muster.queue":"duel","muster.phase":"running"}': 1,
    'muster.deployment.start_time{"muster.queue":"duel"}': { count: 1 },
    'muster.tick.duration{}': { count: 40 },
  })
  // READY after five seconds, and noticed soon after.
  const { sum } = told['muster.deployment.start_time{"muster.queue":"duel"}'] as { sum: number }
  const { sum: unseen } = told['muster.deployment.ready_detection_delay{"muster.queue":"duel"}'] as { sum: number }
  expect(sum).toBeGreaterThanOrEqual(5)
  expect(sum).toBeLessThan(6)
  expect(unseen).toBeGreaterThan(0)
  expect(unseen).toBeLessThan(1)
  expect(spans().map(({ name }) => name)).toEqual([
    'muster.deployment.start',
    'muster.match',
    'muster.ticket',
    'muster.ticket',
  ])
  const attributes = JSON.stringify([told, spans().map((span) => [span.attributes, span.events])])
  expect(attributes).not.toContain('198.51.100')
  await matchmaker.stop()
})
