import { PlayerBusy, PlayerCoolingDown, PlayerPlaying } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import type { RunOutcome } from '../run/outcome.js'
import { crowdOf, outcomeOf } from './outcome.fixture.js'
import { refusalsOf } from './figures.js'

const crowd = (sizes: readonly number[]) => crowdOf(sizes.map((size) => Array.from({ length: size }, () => ({}))))

const refusedBy = (reasons: readonly (string | undefined)[]): RunOutcome => {
  const outcome = outcomeOf(reasons.map(() => ({ end: 'refused' })))
  const tickets = outcome.tickets.map((ticket, index) => ({ ...ticket, refusal: reasons[index] }))
  return { ...outcome, tickets }
}

test('the reasons of refusals count players, without ids of tickets', () => {
  const outcome = refusedBy([
    'ticket: players: a party of 3 is too big: a team takes at most 2',
    'ticket: players.0.attributes.skill: must be a number, got "high"',
    'ticket: players.1.attributes.skill: must be a number, got true',
    undefined,
  ])
  expect(refusalsOf(crowd([3, 1, 1, 5]), outcome)).toEqual([
    { why: 'players: a party of 3 is too big: a team takes at most 2', share: 0.3 },
    { why: 'players.attributes.skill: must be a number', share: 0.2 },
  ])
})

test('refusals of several players of the same kind are one reason', () => {
  const outcome = refusedBy([
    new PlayerCoolingDown('ann', '5v5', 60_000, 51_000).message,
    new PlayerCoolingDown('b"en', '5v5', 60_000, 3000).message,
    new PlayerBusy('cas', 't12').message,
    new PlayerPlaying('dan', 't13', 'm-1').message,
    new PlayerPlaying('eve', 't14', 'm-2').message,
  ])
  expect(refusalsOf(crowd([2, 2, 1, 1, 1]), outcome)).toEqual([
    { why: 'a player is on cooldown in queue "5v5"', share: 4 / 7 },
    { why: 'a player is still in a match', share: 2 / 7 },
    { why: 'a player is already queued in a ticket', share: 1 / 7 },
  ])
})

test('rare reasons of refusals are grouped in the run statistics', () => {
  const outcome = refusedBy(Array.from({ length: 8 }, (_, index) => `ticket: reason ${index}`))
  const told = refusalsOf(crowd(Array.from({ length: 8 }, () => 1)), outcome)
  const words = told.map(({ why }) => why)
  expect(words).toEqual(['reason 0', 'reason 1', 'reason 2', 'reason 3', 'reason 4', 'for other reasons'])
  expect(told.at(-1)?.share).toBe(3 / 8)
})

test('no reasons of refusals are listed if no player was refused', () =>
  expect(refusalsOf(crowd([1]), refusedBy([undefined]))).toEqual([]))
