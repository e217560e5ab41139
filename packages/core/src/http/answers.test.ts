import { expect, test } from 'vitest'
import { Problem, problemResponse } from './answers.js'

test('a problem answer is a problem document with a message for game clients', async () => {
  const response = problemResponse(
    new Problem(429, 'too-many-requests', 'wait', {
      retryAfterMs: 1000.5,
      field: 'data.map',
      headers: { allow: 'GET' },
    }),
  )
  expect(response.status).toBe(429)
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'application/problem+json',
    'retry-after': '2',
    allow: 'GET',
  })
  expect(await response.json()).toEqual({
    type: 'urn:muster:problem:too-many-requests',
    title: 'Too Many Requests',
    status: 429,
    detail: 'wait',
    message: 'wait',
    code: 'too-many-requests',
    field: 'data.map',
    retryAfterMs: 1001,
  })
})

test('unknown members of a problem are omitted, and every status has a title', async () => {
  const response = problemResponse(new Problem(499, 'client-gone', 'gone'))
  expect(Object.fromEntries(response.headers)).toEqual({ 'content-type': 'application/problem+json' })
  expect(await response.json()).toEqual({
    type: 'urn:muster:problem:client-gone',
    title: 'Error',
    status: 499,
    detail: 'gone',
    message: 'gone',
    code: 'client-gone',
  })
})
