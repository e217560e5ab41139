import { expect, test } from 'vitest'
import {
  AlreadyAssigned,
  BackfillVersionConflict,
  NothingToAccept,
  PlayerBusy,
  PlayerCoolingDown,
  PlayerOverLimit,
  PlayerPlaying,
} from '../errors.js'
import { problemOf } from './problems.js'

test.each([
  new PlayerBusy('ann', 't1'),
  new PlayerPlaying('ann', 't1', 'm1'),
  new PlayerOverLimit('ann', 'maxMatchesPerPlayer'),
  new PlayerOverLimit('ann', 'maxServersPerPlayer', 60_000),
  new PlayerCoolingDown('ann', 'duel', 1000, 0),
  new AlreadyAssigned('t1', 'm1'),
  new NothingToAccept('t1'),
  new BackfillVersionConflict('b1', 2),
])('the problem response of $name contains no name of a method or an option', (error) => {
  const { message = '' } = problemOf(error, { dateOf: () => 0 }) ?? {}
  expect(message).not.toMatch(/\w\(|[a-z][A-Z]/)
  expect(message).toMatch(/^[A-Z].*\.$/)
})
