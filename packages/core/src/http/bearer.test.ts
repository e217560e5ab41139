import { expect, test } from 'vitest'
import { bearerToken } from './bearer.js'

test.each([
  ['Bearer abc', 'abc'],
  ['bearer  abc', 'abc'],
  ['abc.def', 'abc.def'],
  ['Basic abc', undefined],
  ['Bearer', undefined],
  ['Bearer a b', undefined],
  ['', undefined],
  [undefined, undefined],
])('the header %j holds the token %j', (authorization, token) => {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
  expect(bearerToken(new Request('http://localhost/', { headers }))).toBe(token)
})
