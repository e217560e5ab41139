import {
  ClientClosed,
  ConnectionLost,
  DependencyFailed,
  Forbidden,
  InvalidInput,
  NoCapacity,
  NotFound,
  RateLimited,
  ServerError,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
  SendAborted,
} from '@muster/core'
import { expect, test } from 'vitest'
import { createFailure, createOutcome } from './create-failure.js'

test.each([
  [new NoCapacity('full', { requestId: 'r1' }), { kind: 'no-capacity', handle: 'r1' }],
  [new NoCapacity('full'), { kind: 'no-capacity', handle: undefined }],
  [new ServerError('broken, but created', { requestId: 'r1' }), { kind: 'no-capacity', handle: 'r1' }],
  [new ConnectionLost('?', { sent: true }), { kind: 'lost' }],
  [new ConnectionLost('?', { sent: false }), { kind: 'unavailable' }],
  [new TimedOut('?', { sent: true, timeoutMs: 1 }), { kind: 'lost' }],
  [new TimedOut('?', { sent: false, timeoutMs: 1 }), { kind: 'unavailable' }],
  [new SendAborted('?', { sent: true }), { kind: 'lost' }],
  [new SendAborted('?', { sent: false }), { kind: 'unavailable' }],
  [new ServerError('?'), { kind: 'lost' }],
  [new UnexpectedResponse('?'), { kind: 'lost' }],
  [new Error('?'), { kind: 'lost' }],
  ['?', { kind: 'lost' }],
  [new Unauthorized('?'), { kind: 'unavailable' }],
  [new Forbidden('?'), { kind: 'unavailable' }],
  [new RateLimited('?'), { kind: 'unavailable' }],
  [new ClientClosed('?'), { kind: 'unavailable' }],
  [new InvalidInput('?'), { kind: 'refused' }],
  [new NotFound('?'), { kind: 'refused' }],
  [new DependencyFailed('?'), { kind: 'refused' }],
])('the outcome of a failed create is read from its error: %s gives %j', (error, failure) => {
  expect(createFailure(error)).toEqual({ ...failure, error })
})

test('a create that throws before it returns a promise counts like a create whose promise rejects', async () => {
  const error = new NoCapacity('full')
  const outcome = createOutcome(() => {
    throw error
  })
  expect(await outcome).toEqual({ kind: 'no-capacity', handle: undefined, error })
})
