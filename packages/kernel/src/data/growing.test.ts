import { expect, test } from 'vitest'
import { grown, type Column } from './columns.js'

const kinds = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array }

test.each(Object.entries(kinds))('a %s array keeps its numbers as it grows, and is zero after them', (_, Kind) => {
  let column: Column = new Kind(0)
  for (let length = 16; length <= 2 ** 20; length *= 4) {
    const before = column.length
    column = grown(column, length)
    expect(column.length).toBe(length)
    expect(column).toBeInstanceOf(Kind)
    expect(column.subarray(before).some((value) => value !== 0)).toBe(false)
    for (let at = before; at < length; at += 7) column[at] = at % 251
  }
  for (let at = 0, from = 0; at < column.length; at += 7) {
    while (from < 2 ** 20 && at >= (from === 0 ? 16 : from * 4)) from = from === 0 ? 16 : from * 4
    if ((at - from) % 7 === 0) expect(column[at]).toBe(at % 251)
  }
})
