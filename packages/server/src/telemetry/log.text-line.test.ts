import { expect, test } from 'vitest'
import { textLine } from './log.js'

const TIME = '2026-01-02T12:00:01.500Z'
const lineOf = (fields: object) => textLine(JSON.stringify({ level: 'info', time: TIME, ...fields }))

test('a text log line has a time, a level, a text and fields', () => {
  expect(lineOf({ text: 'listening', port: 8080, name: 'my-game' })).toBe(
    '12:00:01 info  listening  port=8080  name=my-game\n',
  )
})

test('a list in a text log line is written as its entries', () => {
  expect(lineOf({ text: 'listening', queues: ['duel', '5v5'] })).toBe('12:00:01 info  listening  queues=duel,5v5\n')
})

test.each([
  ['a C1 control', 'a\u009b31mb', 'a\\u{9b}31mb'],
  ['an escape', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['a change of direction', 'user\u202etxt.exe', 'user\\u{202e}txt.exe'],
  ['an isolate', 'a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['an invisible tag', 'a\u{e0041}b', 'a\\u{e0041}b'],
])('%s in a text log line is escaped', (_, given, written) => {
  expect(lineOf({ text: given, who: given })).toBe(`12:00:01 info  "${written}"  who="${written}"\n`)
})

test('no value in a text log line can be read as a further field or line', () => {
  expect(lineOf({ text: 'a\nb', who: 'x  role=operate', ids: ['a b', 'c"'], none: [] })).toBe(
    '12:00:01 info  "a\\nb"  who="x  role=operate"  ids="a b,c\\""  none=""\n',
  )
})
