import { expect, test } from 'vitest'
import { readOptions } from './options.js'

test('every option of the demo has a default', () => {
  const plain = { relay: false, warm: false, lobbies: 40, processes: 0, faults: false, seed: 1, json: false }
  expect(readOptions([])).toEqual({ players: 2000, queueSize: undefined, ...plain })
})

test('every option of the demo is read from the command line', () => {
  const both = ['--seed=9', '--faults', '--json']
  const said = { warm: false, faults: true, seed: 9, json: true }
  const matches = { players: 50, queueSize: 5, relay: false, lobbies: 40, processes: 3 }
  const sizes = ['--players', '50', '--queue-size', '5', '--processes', '3']
  expect(readOptions([...both, ...sizes])).toEqual({ ...matches, ...said })
  const lobbies = { players: 2000, queueSize: undefined, relay: true, lobbies: 7, processes: 0 }
  expect(readOptions([...both, '--relay', '--lobbies', '7'])).toEqual({ ...lobbies, ...said })
  expect(readOptions(['--warm'])).toMatchObject({ warm: true, players: 600, queueSize: undefined })
  expect(readOptions(['--help'])).toBeUndefined()
})

test.each([
  [['--players', '0'], '--players must be a whole number from 1 to 100000, got "0"'],
  [['--players', 'many'], 'got "many"'],
  [['--queue-size', ''], '--queue-size must be'],
  [['--relay', '--lobbies', '101'], '--lobbies must be a whole number from 1 to 100, got "101"'],
  [['--seed', '1.5'], '--seed must be'],
  [['--player', '5'], '--player'],
  [
    ['--relay', '--players', '5'],
    '--players is for matches on servers; how large the demo of lobbies is, --lobbies says',
  ],
  [['--processes', '1'], '--processes must be a whole number from 2 to 16, got "1"'],
  [['--relay', '--processes', '3'], '--processes is for matches'],
  [['--relay', '--queue-size', '5'], '--queue-size is for matches'],
  [['--warm', '--relay'], '--warm cannot be combined with --relay or --processes'],
  [['--warm', '--processes', '3'], '--warm cannot be combined'],
  [['--warm', '--lobbies', '5'], '--lobbies is for lobbies'],
  [['--lobbies', '5'], '--lobbies is for lobbies over a relay; give --relay as well'],
])('the demo options %j are refused with the reason', (args, message) => {
  expect(() => readOptions(args)).toThrow(message)
})
