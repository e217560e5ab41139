import { expect, test } from 'vitest'
import { tokenIn } from './store.js'

test.each([
  ['#token=abc', 'abc'],
  ['#token=a.b-c_d%2B', 'a.b-c_d+'],
  ['#token=abc&x=1', 'abc'],
  ['#token=', undefined],
  ['#/find/token', undefined],
  ['', undefined],
])('the URL fragment %j has the token %j', (fragment, token) => {
  expect(tokenIn(fragment)).toBe(token)
})
