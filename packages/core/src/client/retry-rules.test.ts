import { expect, test } from 'vitest'
import { AlreadyTerminated, ConnectionLost, InvalidInput, NotFound, ServerError } from './errors.js'
import { isGone, mayHaveTakenEffect, mayRetry } from './retry-rules.js'

const unsent = new ConnectionLost('', { sent: false })
const sent = new ConnectionLost('', { sent: true })
const failed = new ServerError('')

test.each(['GET', 'PUT', 'DELETE'] as const)('%s is repeated after any loss and after 5xx', (method) => {
  expect([unsent, sent, failed].map((error) => mayRetry(method, error))).toEqual([true, true, true])
})

test.each(['POST', 'PATCH'] as const)('%s is repeated only if it was certainly not sent', (method) => {
  expect([unsent, sent, failed].map((error) => mayRetry(method, error))).toEqual([true, false, false])
})

test('what the service refused is not repeated', () => {
  for (const error of [new InvalidInput(''), new NotFound(''), new AlreadyTerminated(''), new Error('bug')])
    expect(mayRetry('GET', error)).toBe(false)
})

test('what may have been done', () => {
  expect([unsent, sent, failed, new NotFound('')].map(mayHaveTakenEffect)).toEqual([false, true, true, false])
  expect([new NotFound(''), new AlreadyTerminated(''), failed].map(isGone)).toEqual([true, true, false])
})
