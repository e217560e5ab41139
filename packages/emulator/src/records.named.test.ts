import { expect, test } from 'vitest'
import { createNamed } from './records.js'

function filled() {
  const named = createNamed<{ name: string; note?: string }>()
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  for (const item of [a, b, c]) named.add(item)
  return { named, b }
}

test('record names are unique', () => {
  const { named } = filled()
  expect(named.add({ name: 'a', note: 'another' })).toBe(false)
  expect(named.get('a')).toEqual({ name: 'a' })
  expect(named.values()).toHaveLength(3)
})

test('renaming a record keeps its place in the order', () => {
  const { named, b } = filled()
  expect(named.rename(b, 'z')).toBe(true)
  expect(named.values().map(({ name }) => name)).toEqual(['a', 'z', 'c'])
  expect(named.get('z')).toBe(b)
  expect(named.has('b')).toBe(false)
})

test("a record name in use is refused, except the record's own name", () => {
  const { named, b } = filled()
  expect(named.rename(b, 'a')).toBe(false)
  expect(b.name).toBe('b')
  expect(named.rename(b, 'b')).toBe(true)
  expect(named.get('b')).toBe(b)
})

test('a deleted record is gone and its name is free', () => {
  const { named, b } = filled()
  named.delete(b)
  expect(named.get('b')).toBeUndefined()
  expect(named.add({ name: 'b' })).toBe(true)
})
