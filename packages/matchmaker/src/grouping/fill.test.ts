import { expect, test } from 'vitest'
import { fill } from './fill.js'

const anyone = () => true
const sizeOf = (candidate: number) => Math.floor(candidate / 100)

test('takes the first that fit exactly', () => {
  expect(fill([300, 200, 100], 3, sizeOf, anyone)).toEqual([300])
  expect(fill([200, 201, 100], 3, sizeOf, anyone)).toEqual([200, 100])
  expect(fill([], 1, sizeOf, anyone)).toBeUndefined()
  expect(fill([200, 201, 202], 3, sizeOf, anyone)).toBeUndefined()
})

test('all chosen go together', () => {
  const apart = (one: number, other: number) => !(one === 100 && other === 101) && !(one === 101 && other === 100)
  expect(fill([100, 101, 102], 2, sizeOf, apart)).toEqual([100, 102])
  expect(fill([100, 101], 2, sizeOf, apart)).toBeUndefined()
})

test('gives up on what would take for ever', () => {
  let looks = 0
  const nobody = () => {
    looks += 1
    return looks > 1e6
  }
  expect(
    fill(
      Array.from({ length: 400 }, (_, index) => 100 + (index % 100)),
      50,
      sizeOf,
      nobody,
    ),
  ).toBeUndefined()
  expect(looks).toBeLessThan(5000)
})
