import { expect, test } from 'vitest'
import { textLine } from './text-line.js'

const TIME = '2026-01-02T12:00:01.500Z'
const lineOf = (fields: object) => textLine(JSON.stringify({ level: 'info', time: TIME, ...fields }))

test('a line is a time, a level, a text and fields', () => {
  expect(lineOf({ text: 'listening', port: 8080, name: 'my-game' })).toBe(
    '12:00:01 info  listening  port=8080  name=my-game\n',
  )
})

test('a list is its entries', () => {
  expect(lineOf({ text: 'listening', queues: ['duel', '5v5'] })).toBe('12:00:01 info  listening  queues=duel,5v5\n')
})

test('no value looks like another field or line', () => {
  expect(lineOf({ text: 'a\nb', who: 'x  role=operate', ids: ['a b', 'c"'], none: [] })).toBe(
    '12:00:01 info  "a\\nb"  who="x  role=operate"  ids="a b,c\\""  none=""\n',
  )
})
