import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { generateCrowd, streamCrowd } from './generate/generate-crowd.js'
import { readCrowd, splitLines, writeCrowd } from './crowd-lines.js'

const HEADER = '{"format":"muster-crowd-1","startsAt":0,"durationMs":1000}'
const PARTY =
  '{"id":"p1","at":5,"players":[{"id":"a","coordinates":{"latitude":1,"longitude":2}}],' +
  '"visits":[{"patienceMs":9,"playMs":7}]}'
const twice = PARTY.replace(/"players":\[(.*?\}\})\]/, '"players":[$1,$1]')
const party = (from: string, to: string) => PARTY.replace(from, to)

async function* chunksOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('a written crowd', () => {
  test('a written crowd is read unchanged, regardless of how its bytes are split', async () => {
    const crowd = generateCrowd({ players: 40 }, 3)
    let text = ''
    await writeCrowd(streamCrowd({ players: 40 }, 3), (part) => {
      text += part
    })
    expect(text.split('\n')).toHaveLength(crowd.parties.length + 2)
    for (const size of [1, 7, 4096]) expect(await readCrowd(splitLines(chunksOf(text, size)))).toEqual(crowd)
    const windows = text.replaceAll('\n', '\r\n')
    expect(await readCrowd(splitLines(chunksOf(windows, 512)))).toEqual(crowd)
  })

  test('a crowd is written only as fast as it is consumed', async () => {
    const pieces: number[] = []
    let busy = 0
    await writeCrowd(generateCrowd({ players: 500 }, 3), async (text) => {
      busy += 1
      expect(busy).toBe(1)
      await Promise.resolve()
      busy -= 1
      pieces.push(text.length)
    })
    expect(pieces.length).toBeGreaterThan(2)
    expect(Math.max(...pieces)).toBeLessThan(2 ** 17)
  })
})

describe('an invalid crowd', () => {
  test.each<[string, readonly string[], string]>([
    ['an empty file', [], 'line 1: is missing: the crowd is empty'],
    ['only a header', [HEADER], 'line 2: is missing: the crowd has no parties'],
    ['a missing header', [PARTY], 'line 1: is not the first line of a crowd: it must have format: "muster-crowd-1"'],
    [
      'a recording',
      ['{"at":1,"n":0,"kind":"start","format":"muster-recording-1"}'],
      'line 1: format: must be "muster-crowd-1"',
    ],
    ['a truncated line', [HEADER, '', PARTY.slice(0, -1)], 'line 3: is cut off: ends too early'],
    ['a truncated string', [HEADER, PARTY.slice(0, 9)], 'line 2: is cut off: a text without a closing quote'],
    ['a line that is not JSON', [HEADER, 'id;at;players'], 'line 2: is not JSON: a value is missing'],
    ['an unknown field', [HEADER, party('"at"', '"hat":1,"at"')], 'line 2: hat: is not known; did you mean at?'],
    ['a time that is not a number', [HEADER, party('"at":5', '"at":null')], 'line 2: at: must be a number, got null'],
    [
      'an infinite time',
      [HEADER, party('"patienceMs":9', '"patienceMs":1e999')],
      'line 2: visits.0.patienceMs: must be',
    ],
    [
      'a huge time',
      [HEADER, party('"playMs":7', '"playMs":1e15')],
      'line 2: visits.0.playMs: must be at most 31622400000',
    ],
    [
      'a time after the end',
      [HEADER, party('"at":5', '"at":1000')],
      "line 2: at: must be before the crowd's end, 1000, got 1000",
    ],
    [
      'no players',
      [HEADER, party(/\[\{"id".*?\}\}\]/.exec(PARTY)?.[0] ?? '', '[]')],
      'line 2: players: must not be empty',
    ],
    [
      'a player without a place',
      [HEADER, party(',"coordinates":{"latitude":1,"longitude":2}', '')],
      'line 2: players.0: must have ip, coordinates or both',
    ],
    [
      'an invalid place',
      [HEADER, party('"latitude":1', '"latitude":91')],
      'line 2: players.0.coordinates.latitude: must be at most 90, got 91',
    ],
    [
      'a missing break',
      [HEADER, party('"playMs":7}', '"playMs":7},{"patienceMs":9,"playMs":7}')],
      'line 2: visits.0.breakMs: is missing',
    ],
    [
      'parties out of order',
      [HEADER, PARTY, party('"p1","at":5', '"p2","at":4')],
      'line 3: at: must not be less than 5, the value of the line above, got 4',
    ],
    [
      'a duplicate party id',
      [HEADER, PARTY, party('"at":5', '"at":6')],
      'line 3: id: is the id of an earlier party too, got "p1"',
    ],
    ['a duplicate player', [HEADER, twice], 'line 2: players.1.id: is in this ticket twice'],
    [
      'fewer parties than generated',
      [HEADER.replace('}', ',"made":{"seed":1,"parameters":{},"parties":2}}'), PARTY],
      'line 3: is missing: the crowd should have 2 parties, but has 1',
    ],
    ['a line without an end', [HEADER, ' '.repeat(2 ** 20) + PARTY], 'line 2: is longer than a mebibyte'],
  ])('an invalid crowd is refused with its line: %s', async (_, lines, message) => {
    await expect(readCrowd(lines)).rejects.toThrow(message)
  })

  test('a crowd line without an end is refused, and is not held in memory', async () => {
    let asked = 0
    async function* endless() {
      for (;;) {
        asked += 1
        yield HEADER.replaceAll('\n', ' ')
      }
    }
    await expect(readCrowd(splitLines(endless()))).rejects.toThrow('line 1: is longer than a mebibyte')
    expect(asked * HEADER.length).toBeLessThan(2 ** 21)
  })

  test('a compressed crowd file is refused', async () => {
    async function* bytes() {
      yield gzipSync(`${HEADER}\n${PARTY}\n`)
    }
    await expect(readCrowd(splitLines(bytes()))).rejects.toThrow('line 1: is compressed: unpack it by gunzip')
  })

  test('a crowd file that is not UTF-8 is refused', async () => {
    async function* bytes() {
      yield new TextEncoder().encode(`${HEADER}\n${PARTY}\n`)
      yield Uint8Array.of(0x22, 0xff, 0x22)
    }
    await expect(readCrowd(splitLines(bytes()))).rejects.toThrow('line 3: is not UTF-8')
  })
})
