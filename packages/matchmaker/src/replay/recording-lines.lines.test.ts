import { InvalidInput } from '@muster/core'
import { expect, test } from 'vitest'
import { readLine } from './recording-lines.js'

const hollow = { id: 'a', queues: [], players: [], priority: 0, createdAt: 1 }
const cancel = { kind: 'cancel', at: 1, n: 2, ticketId: 'a' }

test('a recording with all known kinds of lines is read', () => {
  expect(readLine(JSON.stringify(cancel), 1)).toEqual(cancel)
})

test.each([
  ['{', 'recording, line 7: is not JSON: line 1, column 2: ends too early'],
  ['[]', 'recording, line 7: '],
  [JSON.stringify({ ...cancel, kind: 'reboot' }), 'recording, line 7: kind: '],
  [JSON.stringify({ ...cancel, at: 'noon' }), 'recording, line 7: at: '],
  [JSON.stringify({ ...cancel, ticketId: '' }), 'recording, line 7: ticketId: '],
  [JSON.stringify({ ...cancel, more: 1 }), 'recording, line 7: more: is not known'],
  [JSON.stringify({ kind: 'start', format: 'muster-recording-9', at: 1, n: 0 }), 'recording, line 7: format: '],
  [JSON.stringify({ kind: 'create', at: 1, n: 0, ticket: hollow }), 'recording, line 7: ticket.queues: '],
])('a recording with the line %s is refused', (text, message) => {
  expect(() => readLine(text, 7)).toThrow(InvalidInput)
  expect(() => readLine(text, 7)).toThrow(message)
})
