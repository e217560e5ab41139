import { expect, test } from 'vitest'
import { UnknownTicket } from '../errors.js'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'

const skilled = { ...duel, rules: [{ kind: 'difference', attribute: 'skill', max: 10 }] } as const
const player = (id: string, skill: number) => ({ id, ip: '198.51.100.7', attributes: { skill } })

test('explain names for each queue the blocking rule, and nothing about other players', async () => {
  const { matchmaker, run } = setUp({ queues: [skilled, { name: 'trio', matchSize: 3, deploy }] })
  matchmaker.createTicket({ id: 'ann', queues: ['duel', 'trio'], players: [player('ann', 100)] })
  matchmaker.createTicket({ id: 'ben', queue: 'duel', players: [player('ben', 150)] })
  await run(1000)
  const explanation = matchmaker.explain('ann')
  expect(explanation).toMatchObject({
    ticketId: 'ann',
    waitedMs: 1000,
    waitingFor: 'players',
    queues: [
      { queue: 'duel', blocking: 'difference skill', nearest: { value: 50, limit: 10, gap: 40 } },
      { queue: 'trio', others: 0, lacks: 2 },
    ],
  })
  expect(explanation.summary).toMatch(/^duel: .* trio: /)
  expect(JSON.stringify(explanation)).not.toContain('ben')
  expect(matchmaker.explain('ben').summary).toBe(matchmaker.explain('ben').queues[0]?.summary)
})

test('explain names the reason why a ticket is not searching', async () => {
  const { matchmaker, join, run } = setUp({
    locate: () => new Promise(() => {}),
    service: { fate: (nth) => (nth === 1 ? { errorMs: 1000 } : { readyMs: 1000 }) },
  })
  join('ann', 'ben')
  expect(matchmaker.explain('ann-ben')).toMatchObject({ summary: 'Its place is being looked up.', queues: [] })
  await run(2250)
  expect(matchmaker.explain('ann-ben').summary).toBe('Its match is found. A server starts for the match, since 0 s.')
  await run(2250)
  expect(matchmaker.explain('ann-ben')).toMatchObject({
    waitingFor: 'retry',
    summary: expect.stringMatching(/matched again in \d s\.$/),
  })
  await run(10_000)
  expect(matchmaker.explain('ann-ben')).toMatchObject({
    waitingFor: undefined,
    summary: 'Its match has a server.',
    queues: [],
  })
  expect(() => matchmaker.explain('nosuch')).toThrow(UnknownTicket)
})

test('explain reports that a found match waits for the limit on servers', async () => {
  const { matchmaker, join, run } = setUp({ maxServers: 1 })
  join('ann', 'ben')
  await run(250)
  join('cas', 'dee')
  await run(250)
  expect(matchmaker.explain('cas-dee').summary).toBe('Its match is found, but no more servers may be deployed now.')
  matchmaker.cancelTicket('cas-dee')
  expect(matchmaker.explain('cas-dee').summary).toBe('It was cancelled.')
})
