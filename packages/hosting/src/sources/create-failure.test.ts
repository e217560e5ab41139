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
  [new ConnectionLost('sent', { sent: true }), { kind: 'lost' }],
  [new ConnectionLost('not sent', { sent: false }), { kind: 'unavailable' }],
  [new TimedOut('sent', { sent: true, timeoutMs: 1 }), { kind: 'lost' }],
  [new TimedOut('not sent', { sent: false, timeoutMs: 1 }), { kind: 'unavailable' }],
  [new SendAborted('sent', { sent: true }), { kind: 'lost' }],
  [new SendAborted('not sent', { sent: false }), { kind: 'unavailable' }],
  [new ServerError('failed'), { kind: 'lost' }],
  [new UnexpectedResponse('failed'), { kind: 'lost' }],
  [new Error('failed'), { kind: 'lost' }],
  ['no Error object', { kind: 'lost' }],
  [new Unauthorized('failed'), { kind: 'unavailable' }],
  [new Forbidden('failed'), { kind: 'unavailable' }],
  [new RateLimited('failed'), { kind: 'unavailable' }],
  [new ClientClosed('failed'), { kind: 'unavailable' }],
  [new InvalidInput('failed'), { kind: 'refused' }],
  [new NotFound('failed'), { kind: 'refused' }],
  [new DependencyFailed('failed'), { kind: 'refused' }],
])('a create that fails with “%s” has the outcome %j', (error, failure) => {
  expect(createFailure(error)).toEqual({ ...failure, error })
})

test('a create that throws before it returns a promise counts like a create whose promise rejects', async () => {
  const error = new NoCapacity('full')
  const outcome = createOutcome(() => {
    throw error
  })
  expect(await outcome).toEqual({ kind: 'no-capacity', handle: undefined, error })
})
