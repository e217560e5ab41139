import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { grown, type Column } from './columns.js'

const kinds = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array }

test.each(Object.entries(kinds))('a %s keeps its numbers as it grows, with zeros after them', (_, Kind) => {
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

test('a large column grows in place', () => {
  const small = new Float64Array(8)
  expect(grown(small, 16).buffer).not.toBe(small.buffer)
  const large = grown(small, 2 ** 16)
  expect(grown(large, 2 ** 20).buffer).toBe(large.buffer)
})

test('a column that outgrows its addresses is copied', () => {
  const large = grown(Uint8Array.of(1, 2, 3), 2 ** 20)
  const larger = grown(large, 2 ** 30 + 1)
  expect(larger.buffer).not.toBe(large.buffer)
  expect([...larger.subarray(0, 4)]).toEqual([1, 2, 3, 0])
})

test('a column is copied where no addresses are left', { timeout: 20_000 }, () => {
  const module = fileURLToPath(new URL('../../dist/data/columns.js', import.meta.url))
  const program = `
    const { grown } = await import(${JSON.stringify(module)})
    const held = []
    for (let each = 0; each < 8; each++) held.push(grown(Float64Array.of(each + 1), 2 ** 17))
    const kinds = new Set(held.map(({ buffer }) => buffer.constructor))
    console.log(held.every((column, each) => column[0] === each + 1), kinds.size)
  `
  const limited = 'ulimit -v 6000000; exec "$0" --input-type=module -e "$1"'
  const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, program])
  expect(String(stdout).trim()).toBe('true 2')
})
