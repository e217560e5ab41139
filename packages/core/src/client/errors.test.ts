import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import * as errors from './errors.js'

const { nameErrors: _, ...classes } = errors

test('every error class is a MusterError and an Error with its own name', () => {
  for (const [name, Class] of Object.entries(classes)) {
    const error = new Class('what happened', { operation: 'fleets.get', sent: true, timeoutMs: 1 })
    expect(error).toBeInstanceOf(errors.MusterError)
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe(name)
    expect(String(error)).toBe(`${name}: what happened`)
    expect(inspect(error)).toContain(`${name}: what happened`)
  }
})

test('an error has its cause, and no field for an option that is undefined', () => {
  const cause = new Error('socket hang up')
  const error = new errors.ConnectionLost('lost', {
    operation: 'fleets.get',
    call: 'c-1',
    requestId: undefined,
    sent: false,
    cause,
  })
  expect(Object.keys(error).toSorted()).toEqual(['call', 'operation', 'sent'])
  expect(error.cause).toBe(cause)
  expect('cause' in new errors.NotFound('x')).toBe(false)
})

test('an error serializes to JSON with its name, message and facts, but no stack and no cause', () => {
  const error = new errors.NoCapacity('no room', {
    operation: 'deployments.create',
    requestId: 'abc',
    status: 422,
    cause: new Error('x'),
  })
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({
    error: { name: 'NoCapacity', message: 'no room', operation: 'deployments.create', requestId: 'abc', status: 422 },
  })
})
