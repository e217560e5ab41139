import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventParser, type SseEvent } from './follow.js'

const parsed = (...pieces: readonly string[]) => pieces.flatMap(createEventParser())

test.each<[string, string, readonly SseEvent[]]>([
  ['an event', 'event: now\ndata: {}\n\n', [{ event: 'now', data: '{}' }]],
  ['an event without a name', 'data: 1\n\n', [{ event: 'message', data: '1' }]],
  ['data over several lines', 'data: 1\ndata:2\ndata:  3\ndata\n\n', [{ event: 'message', data: '1\n2\n 3\n' }]],
  ['a comment, an id and a retry time', ': hello\nid: 7\nretry: 9\ndata: a:b\n\n', [{ event: 'message', data: 'a:b' }]],
  [
    'every kind of line end',
    'data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n\r',
    ['1', '2', '3'].map((data) => ({ event: 'message', data })),
  ],
  ['a byte order mark', '\uFEFFdata: 1\n\n', [{ event: 'message', data: '1' }]],
  ['a name without data, and the next event', 'event: lost\n\ndata: 1\n\n', [{ event: 'message', data: '1' }]],
  ['an unfinished event', 'data: 1\n', []],
])('the event stream parser reads %s', (_, stream, events) => {
  expect(parsed(stream)).toEqual(events)
})

const ends = fc.constantFrom('\n', '\r\n', '\r')
const texts = fc.string({ unit: fc.constantFrom('a', ':', ' ', 'é', '😀', '{'), maxLength: 8 })
const field = fc.oneof(
  fc.tuple(fc.constantFrom('data', 'event', 'id', ''), texts).map(([name, value]) => `${name}: ${value}`),
  fc.constant(''),
)
const streams = fc.array(fc.tuple(field, ends), { maxLength: 30 }).map((lines) => lines.flat().join(''))

test('the event stream parser gives the same events however the stream is cut into pieces', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(200)), (text, cuts) => {
      // A parser holds back a carriage return at the end until it sees the next character, so every stream ends with
      // another line.
      const stream = `${text}: end\n`
      const places = [...new Set(cuts.map((cut) => cut % stream.length))].toSorted((one, other) => one - other)
      const pieces = [0, ...places].map((from, at) => stream.slice(from, places[at] ?? stream.length))
      expect(pieces.join('')).toBe(stream)
      expect(parsed(...pieces)).toEqual(parsed(stream))
    }),
  )
})
