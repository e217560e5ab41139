import fc from 'fast-check'
import { expect, test } from 'vitest'
import { generateCrowd } from './generate/generate-crowd.js'
import { crowdFromRecording } from './recorded/crowd-from-recording.js'
import { InvalidCrowd, readCrowd, writeCrowd } from './crowd-lines.js'

const parts: string[] = []
await writeCrowd(generateCrowd({ players: 4, beacons: [], hours: 1 }, 2), (text) => void parts.push(text))
const CROWD = parts.join('')
const at = (n: number, event: object) => JSON.stringify({ at: 1000 + n, n, ...event })
const ticket = (id: string) => ({
  id,
  queues: ['duel'],
  players: [{ id, ip: '203.0.113.7' }],
  priority: 0,
  createdAt: 1000,
})
const RECORDING = [
  at(0, { kind: 'start', format: 'muster-recording-1', queues: [{ name: 'duel', matchSize: 2 }] }),
  at(1, { kind: 'create', ticket: ticket('a') }),
  at(2, { kind: 'create', ticket: ticket('b') }),
  at(3, { kind: 'accept', ticketId: 'a' }),
  at(4, { kind: 'left', playerIds: ['a', 'b'] }),
].join('\n')

/** Replacements of a value: of another type, of another size, or nothing. */
const WRONG = [
  'null',
  '-1',
  '1e999',
  '1e300',
  '""',
  '[]',
  '{}',
  'true',
  '"x"',
  '[[]]',
  '9007199254740993',
  '0.5',
  '',
] as const

/** Replaces some of the JSON values in a text, and perhaps cuts the text off. */
const spoilt = (text: string) => {
  const values = [...text.matchAll(/(?<=[:,[])(?:"[^"]*"|-?[\d.]+|true|false)/g)]
  const change = fc.tuple(fc.nat(values.length - 1), fc.constantFrom(...WRONG))
  return fc.tuple(fc.array(change, { maxLength: 3 }), fc.option(fc.nat(text.length))).map(([changes, end]) => {
    let whole = text
    for (const [index, wrong] of changes.toSorted(([one], [other]) => other - one)) {
      const { index: from, 0: value } = values[index] as RegExpExecArray
      whole = whole.slice(0, from) + wrong + whole.slice(from + value.length)
    }
    return end === null ? whole : whole.slice(0, end)
  })
}

/**
 * Returns what is wrong with the result of reading. Reading must return parties, or a fault that has a line and
 * contains no address.
 */
async function wrongWith(reading: Promise<{ readonly parties: readonly object[] }>): Promise<unknown> {
  try {
    return (await reading).parties.length > 0 ? undefined : 'no parties'
  } catch (error) {
    if (!(error instanceof InvalidCrowd)) return error
    return /^line \d+: /.test(error.message) && !error.message.includes('203.0.113') ? undefined : error.message
  }
}

test('a crowd with any content is read, or refused with its line (property)', () =>
  fc.assert(
    fc.asyncProperty(spoilt(CROWD), async (text) => {
      expect(await wrongWith(readCrowd(text.split('\n')))).toBeUndefined()
    }),
    { numRuns: 300 },
  ))

test('a recording with any content is read, or refused with its line (property)', () =>
  fc.assert(
    fc.asyncProperty(spoilt(RECORDING), async (text) => {
      const reading = crowdFromRecording(text.split('\n')).then(({ crowd }) => crowd)
      expect(await wrongWith(reading)).toBeUndefined()
    }),
    { numRuns: 150 },
  ))
