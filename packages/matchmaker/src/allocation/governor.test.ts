import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGovernor, type Held } from './governor.js'
import { newMatch, type MatchPhase } from './match.js'
import { createMatches, type Matches } from './matches.js'

function matches(...phases: MatchPhase[]): Matches {
  const all = createMatches()
  for (const [index, phase] of phases.entries()) {
    const match = newMatch({ matchId: `m${index}`, queue: 'q', tag: 't', ticketIds: [], at: 0 })
    all.add(match)
    all.enter(match, phase)
  }
  return all
}
const none = createMatches()
const bound = { maxServers: 5, maxStarting: 3, maxCreatesPerMinute: Infinity }

describe('room', () => {
  test.each<[MatchPhase[], number, Held | undefined]>([
    [[], 3, undefined],
    [['creating', 'finding'], 1, undefined],
    [['starting', 'retrying', 'warming'], 0, 'maxStarting'],
    [['running', 'running', 'running'], 2, undefined],
    [['running', 'running', 'running', 'stopping'], 1, undefined],
    [['running', 'running', 'running', 'running', 'running', 'running'], 0, 'maxServers'],
  ])('with %j', (phases, room, held) => {
    const governor = createGovernor(bound, () => 0)
    expect([governor.room(matches(...phases), 0), governor.held]).toEqual([room, held])
  })
})

test('no minute has more creates than allowed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(20_000), { maxLength: 200 }), (most, gaps) => {
      const unbound = { maxStarting: Infinity, maxServers: Infinity }
      const governor = createGovernor({ ...unbound, maxCreatesPerMinute: most }, () => 0)
      const sent: number[] = []
      let now = 0
      for (const gap of gaps) {
        now += gap
        if (governor.room(none, now) > 0) {
          governor.sending(now)
          sent.push(now)
        } else {
          expect(governor.held).toBe('maxCreatesPerMinute')
          expect(sent.filter((at) => at > now - 60_000)).toHaveLength(most)
        }
      }
      for (const start of sent) expect(sent.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(most)
    }),
  )
})

test('the third failure in a row makes a pause, each further one a longer one, and a success ends it', () => {
  const governor = createGovernor(bound, () => 0)
  governor.failed(0)
  governor.failed(0)
  expect(governor.room(none, 0)).toBe(3)
  governor.failed(0)
  expect(governor.pausedUntil).toBe(500)
  // These were under way already.
  for (let index = 0; index < 10; index++) governor.failed(100)
  expect([governor.room(none, 499), governor.room(none, 500)]).toEqual([0, 3])
  governor.failed(500)
  expect(governor.pausedUntil).toBe(1500)
  governor.succeeded()
  expect(governor.room(none, 600)).toBe(3)
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
