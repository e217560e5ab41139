import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateCrowd } from './generate-crowd.js'

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

test('the same seed gives the same bytes on every machine', () => {
  const crowd = generateCrowd({ players: 300 }, 7)
  expect(hashOf(crowd)).toBe('1edf128eb3efad66')
  expect(generateCrowd({ players: 300 }, 7)).toEqual(crowd)
  expect(hashOf(generateCrowd({ players: 300 }, 8).parties)).not.toBe(hashOf(crowd.parties))
})

test('what one parameter says leaves everything else as it was', () => {
  const before = generateCrowd({ players: 300 }, 7)
  const patient = generateCrowd({ players: 300, patience: { medianMs: 600_000 } }, 7)
  expect(patient.parties.map(({ players }) => players)).toEqual(before.parties.map(({ players }) => players))
  expect(patient.parties.map(({ visits }) => visits.map(({ playMs, breakMs }) => [playMs, breakMs]))).toEqual(
    before.parties.map(({ visits }) => visits.map(({ playMs, breakMs }) => [playMs, breakMs])),
  )
  const alone = generateCrowd({ players: 300, parties: { sizes: [1] } }, 7)
  const firstOf = new Map(alone.parties.map(({ id, at, players }) => [id, [at, players[0]]]))
  for (const { id, at, players } of before.parties) expect([at, players[0]]).toEqual(firstOf.get(id))
})

test.each([
  [{ players: 0 }, 'crowd parameter players: must be at least 1, got 0'],
  [{ hour: 3 }, 'crowd parameter hour: is not known; did you mean hours?'],
  [{ patience: { shape: 'steep' } }, 'crowd parameter patience.shape: must be a number, got a text'],
  [{ parties: { sizes: [0, 0] } }, 'crowd parameter parties.sizes: must not be 0 everywhere, got a list'],
  [{ regions: { Atlantis: 1 } }, 'crowd parameter regions.Atlantis: is a region without cities, got 1'],
])('%j is refused', (parameters, message) => {
  expect(() => generateCrowd(parameters as object, 7)).toThrow(message)
})
