import { describe, expect, test } from 'vitest'
import { crowdFor, cutCrowd, mixCrowds, resampleCrowd, scaleCrowd } from './change-crowd.js'
import type { Crowd } from './crowd.js'
import { generateCrowd } from './generate/generate-crowd.js'
import { readCrowd, writeCrowd } from './crowd-lines.js'

const crowd = generateCrowd({ players: 800, hours: 3 }, 5)
const HOUR_MS = 3_600_000

/** Writes the crowd to a file and reads it again, because reading refuses invalid crowds. */
async function written(changed: Crowd): Promise<Crowd> {
  const parts: string[] = []
  await writeCrowd(changed, (text) => void parts.push(text))
  return readCrowd(parts.join('').split('\n'))
}

test('any change of a crowd gives a crowd that can be written and read, the same for the same seed', async () => {
  for (const change of [
    (seed: number) => scaleCrowd(crowd, 2.5, seed),
    (seed: number) => scaleCrowd(crowd, 0.3, seed),
    (seed: number) => resampleCrowd(crowd, seed),
    () => cutCrowd(crowd, HOUR_MS, 2 * HOUR_MS),
    () => mixCrowds(crowd, scaleCrowd(crowd, 0.5)),
  ]) {
    const changed = change(3)
    expect(await written(changed)).toEqual(changed)
    expect(change(3)).toEqual(changed)
    expect(changed.header.made).toBeUndefined()
  }
  expect(scaleCrowd(crowd, 2.5, 4)).not.toEqual(scaleCrowd(crowd, 2.5, 3))
  expect(resampleCrowd(crowd, 4)).not.toEqual(resampleCrowd(crowd, 3))
})

describe('a scaled crowd', () => {
  test('a crowd that is scaled down loses some parties, and all other parties stay unchanged', () => {
    const half = scaleCrowd(crowd, 0.5, 3)
    expect(half.parties.length / crowd.parties.length).toBeCloseTo(0.5, 1)
    const all = new Set(crowd.parties)
    expect(half.parties.every((party) => all.has(party))).toBe(true)
    const fewer = new Set(scaleCrowd(crowd, 0.2, 3).parties)
    expect([...fewer].every((party) => half.parties.includes(party))).toBe(true)
  })

  test('a crowd that is scaled up gains copies nearby at about the same time, with their own ids', () => {
    const triple = scaleCrowd(crowd, 3, 3)
    expect(triple.parties).toHaveLength(3 * crowd.parties.length)
    const copies = new Map(triple.parties.map((party) => [party.id, party]))
    for (const original of crowd.parties) {
      expect(copies.get(original.id)).toBe(original)
      const copy = copies.get(`${original.id}~2`)
      expect(Math.abs((copy?.at ?? Infinity) - original.at)).toBeLessThanOrEqual(HOUR_MS / 2)
      expect(copy?.visits).toEqual(original.visits)
      const [mine, other] = [original.players[0], copy?.players[0]]
      expect(other).toMatchObject({ id: `${mine?.id}~2`, attributes: mine?.attributes, region: mine?.region })
      const [here, there] = [mine?.coordinates?.latitude ?? 0, other?.coordinates?.latitude ?? Infinity]
      expect(Math.abs(here - there)).toBeLessThan(0.6)
    }
  })

  test('a scaled crowd keeps parties of the same players together, and the players whom they avoid', () => {
    const player = (id: string, avoid: string) => ({ id, coordinates: { latitude: 1, longitude: 1 }, avoid: [avoid] })
    const visits = [{ patienceMs: 1, playMs: 1 }]
    const people = Array.from({ length: 100 }, (_, index) => [
      player(`a${index}`, `b${index}`),
      player(`b${index}`, 'x'),
    ])
    const alone = people.flatMap((players, index) => [
      { id: `p${index}`, at: 0, players, visits },
      { id: `q${index}`, at: 5, players: players.slice(0, 1), visits },
    ])
    const all: Crowd = { header: { format: 'muster-crowd-1', startsAt: 0, durationMs: 1000 }, parties: alone }
    const grown = scaleCrowd(all, 1.5, 3).parties
    const copied = (first: string) =>
      grown.flatMap(({ id }) => (id.startsWith(first) && id.includes('~') ? [id.slice(1)] : []))
    expect(copied('p').toSorted()).toEqual(copied('q').toSorted())
    expect(copied('p').length).toBeGreaterThan(20)
    const [copy] = grown.filter(({ id }) => id.startsWith('p') && id.endsWith('~2'))
    expect(copy?.players[0]?.avoid).toEqual([copy?.players[1]?.id])
  })

  test.each([[0], [0.05], [11], [Number.NaN]])('scaleCrowd refuses the factor %d', (factor) => {
    expect(() => scaleCrowd(crowd, factor)).toThrow(`scale: must be from 0.1 to 10, got ${factor}`)
  })

  test('scaleCrowd refuses to scale a crowd down to no party', () => {
    expect(() => scaleCrowd({ ...crowd, parties: crowd.parties.slice(0, 1) }, 0.1, 1)).toThrow(
      'scale: 0.1 leaves none of 1',
    )
  })
})

describe('a crowd cut in time', () => {
  test('a crowd cut in time contains earlier parties with their later visits, and nothing after the end', () => {
    const cut = cutCrowd(crowd, HOUR_MS, 2 * HOUR_MS)
    expect(cut.header).toMatchObject({ startsAt: crowd.header.startsAt + HOUR_MS, durationMs: HOUR_MS })
    const before = new Map(crowd.parties.map((party) => [party.id, party]))
    let later = 0
    for (const { id, at, visits } of cut.parties) {
      const whole = before.get(id)
      if ((whole?.at ?? 0) >= HOUR_MS) expect(at).toBe((whole?.at ?? 0) - HOUR_MS)
      else later += 1
      const begins = visits.slice(0, -1).reduce((ms, visit) => ms + visit.playMs + (visit.breakMs ?? Infinity), at)
      expect(begins).toBeLessThan(HOUR_MS)
      expect(visits.at(-1)?.breakMs).toBeUndefined()
    }
    expect(later).toBeGreaterThan(50)
    const visitsOf = ({ parties }: Crowd) => parties.reduce((sum, { visits }) => sum + visits.length, 0)
    const thirds = [0, 1, 2].map((hour) => visitsOf(cutCrowd(crowd, hour * HOUR_MS, (hour + 1) * HOUR_MS)))
    expect(thirds.reduce((sum, many) => sum + many)).toBe(visitsOf(crowd))
  })

  test.each([
    [5, 5, 'cut: fromMs and toMs must be whole numbers from 0 on, with fromMs < toMs, got 5 to 5'],
    [-1, 5, 'cut: fromMs and toMs must be whole numbers from 0 on'],
    [0, 4 * HOUR_MS, 'cut: must end with the crowd at 10800000 ms, got 14400000'],
    [0, 1, 'cut: nobody comes from 0 to 1 ms'],
  ])('cutCrowd refuses a cut from %d to %d', (from, to, message) => {
    expect(() => cutCrowd(crowd, from, to)).toThrow(message)
  })
})

test('a mixed crowd contains all parties, and players of different crowds get different ids', () => {
  const mixed = mixCrowds(crowd, crowd)
  expect(mixed.parties).toHaveLength(2 * crowd.parties.length)
  const ids = mixed.parties.flatMap(({ players }) => players.map(({ id }) => id))
  expect(new Set(ids).size).toBe(1600)
  expect(mixCrowds(crowd)).toBe(crowd)
  expect(() => mixCrowds()).toThrow('crowds: must hold at least one crowd')
  const long = 'x'.repeat(128)
  const named = { ...crowd, parties: crowd.parties.slice(0, 1).map((party) => ({ ...party, id: long })) }
  expect(mixCrowds(named, named).parties.map(({ id }) => id.length)).toEqual([expect.any(Number), expect.any(Number)])
  for (const { id } of mixCrowds(named, named).parties) expect(id.length).toBeLessThanOrEqual(128)
})

test('a resampled crowd has as many parties in each ten minutes, from 63 % of the original parties', () => {
  const again = resampleCrowd(crowd, 9)
  const perBlock = ({ parties }: Crowd) => {
    const blocks = new Array<number>(18).fill(0)
    for (const { at } of parties) blocks[Math.floor(at / 600_000)] = (blocks[Math.floor(at / 600_000)] ?? 0) + 1
    return blocks
  }
  expect(perBlock(again)).toEqual(perBlock(crowd))
  const kept = new Set(again.parties.map(({ id }) => id.split('~')[0]))
  // Each of n parties is drawn with a probability of 1 − 1/e.
  expect(kept.size / crowd.parties.length).toBeCloseTo(0.63, 1)
})

test('a synthetic crowd is generated anew for another seed, and any other crowd is resampled for another seed', () => {
  expect(crowdFor(crowd, 5)).toBe(crowd)
  expect(crowdFor(crowd, 6)).toEqual(generateCrowd({ players: 800, hours: 3 }, 6))
  const cut = cutCrowd(crowd, 0, HOUR_MS)
  expect(crowdFor(cut, 0)).toBe(cut)
  expect(crowdFor(cut, 6)).toEqual(resampleCrowd(cut, 6))
  const odd = { ...crowd, header: { ...crowd.header, made: { seed: 5, parameters: { players: 0 }, parties: 1 } } }
  expect(() => crowdFor(odd, 6)).toThrow('crowd parameter players: must be at least 1, got 0')
})
