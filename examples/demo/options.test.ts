import { expect, test } from 'vitest'
import { readOptions } from './options.js'

test('everything has a default', () => {
  const plain = { relay: false, lobbies: 40, faults: false, seed: 1, json: false }
  expect(readOptions([])).toEqual({ players: 2000, queueSize: undefined, ...plain })
})

test('every option is read', () => {
  const args = ['--players', '50', '--queue-size', '5', '--seed=9', '--relay', '--lobbies', '7', '--faults', '--json']
  expect(readOptions(args)).toEqual({ players: 50, queueSize: 5, relay: true, lobbies: 7, faults: true, seed: 9, json: true })
  expect(readOptions(['--help'])).toBeUndefined()
})

test.each([
  [['--players', '0'], '--players must be a whole number from 1 to 100000, got "0"'],
  [['--players', 'many'], 'got "many"'],
  [['--queue-size', ''], '--queue-size must be'],
  [['--lobbies', '101'], '--lobbies must be a whole number from 1 to 100, got "101"'],
  [['--seed', '1.5'], '--seed must be'],
  [['--player', '5'], '--player'],
])('%j is refused, with the reason', (args, message) => {
  expect(() => readOptions(args)).toThrow(message)
})
