import { expect, test } from 'vitest'
import type { Locate } from '../locate/index.js'
import { createLocating } from './locate-players.js'

const oslo = { latitude: 59.9, longitude: 10.7 }
const player = { id: 'ann', ip: '192.0.2.1' }

function setUp(locate: Locate | undefined) {
  const problems: string[] = []
  return { problems, locating: createLocating(locate, (error) => problems.push(error.message)) }
}

test('players are located synchronously if the lookup is synchronous', () => {
  expect(setUp(() => oslo).locating([player])).toEqual(oslo)
  expect(setUp(undefined).locating([player])).toBeUndefined()
  expect(setUp(() => undefined).locating([player, { id: 'ben', coordinates: oslo }])).toEqual(oslo)
})

test('players with coordinates are not looked up', () => {
  const asked: string[] = []
  const { locating } = setUp((ip) => void asked.push(ip))
  expect(locating([{ ...player, coordinates: oslo }])).toEqual(oslo)
  expect(asked).toEqual([])
})

test('players are located by an asynchronous lookup', async () => {
  expect(await setUp(() => Promise.resolve(oslo)).locating([player])).toEqual(oslo)
})

test.each<[string, Locate]>([
  [
    'throws',
    (ip) => {
      throw new Error(`no ${ip}`)
    },
  ],
  ['rejects', (ip) => Promise.reject(new Error(`no ${ip}`))],
  ['returns an invalid place', () => ({ latitude: 200, longitude: NaN })],
  ['resolves to an invalid place', () => Promise.resolve({ latitude: 200, longitude: 0 })],
])('a place lookup that %s leaves the place unknown, and is reported without the address', async (_, locate) => {
  const { problems, locating } = setUp(locate)
  expect(await locating([player])).toBeUndefined()
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain('locate failed: ')
  expect(problems[0]).not.toContain('192.0.2.1')
})
