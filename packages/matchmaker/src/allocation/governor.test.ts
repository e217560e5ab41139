import { describe, expect, test } from 'vitest'
import { createGovernor } from './governor.js'
import { newMatch, type Match, type MatchPhase } from './match.js'

const matches = (...phases: MatchPhase[]): Match[] =>
  phases.map((phase, index) => ({ ...newMatch({ matchId: `m${index}`, queue: 'q', tag: 't', ticketIds: [], at: 0 }, 1), phase }))
const bound = { maxServers: 5, maxStarting: 3 }

describe('room', () => {
  test.each<[MatchPhase[], number]>([
    [[], 3],
    [['creating', 'finding'], 1],
    [['starting', 'starting', 'creating'], 0],
    [['running', 'running', 'running'], 2],
    [['running', 'running', 'running', 'stopping'], 1],
    [['running', 'running', 'running', 'running', 'running', 'running'], 0],
  ])('with %j', (phases, room) => {
    expect(createGovernor(bound, () => 0).room(matches(...phases), 0)).toBe(room)
  })
})

test('the third failure in a row makes a pause, each further one a longer one, and a success ends it', () => {
  const governor = createGovernor(bound, () => 0)
  governor.failed(0)
  governor.failed(0)
  expect(governor.room([], 0)).toBe(3)
  governor.failed(0)
  expect(governor.pausedUntil).toBe(500)
  // These were under way already.
  for (let index = 0; index < 10; index++) governor.failed(100)
  expect([governor.room([], 499), governor.room([], 500)]).toEqual([0, 3])
  governor.failed(500)
  expect(governor.pausedUntil).toBe(1500)
  governor.succeeded()
  expect(governor.room([], 600)).toBe(3)
})

test('pauses are bounded', () => {
  const governor = createGovernor(bound, () => 0.5)
  let now = 0
  for (let index = 0; index < 100; index++) {
    governor.failed(now)
    expect(governor.pausedUntil - now).toBeLessThanOrEqual(30_000)
    now = Math.max(now, governor.pausedUntil)
  }
})
