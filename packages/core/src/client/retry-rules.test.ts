import { expect, test } from 'vitest'
import { AlreadyTerminated, ConnectionLost, InvalidInput, NotFound, ServerError } from './errors.js'
import { isGone, mayHaveTakenEffect, mayRetry } from './retry.js'

const unsent = new ConnectionLost('', { sent: false })
const sent = new ConnectionLost('', { sent: true })
const failed = new ServerError('')

test.each(['GET', 'PUT', 'DELETE'] as const)('%s is retried after any lost connection and after 5xx', (method) => {
  expect([unsent, sent, failed].map((error) => mayRetry(method, error))).toEqual([true, true, true])
})

test.each(['POST', 'PATCH'] as const)('%s is retried only if it was certainly not sent', (method) => {
  expect([unsent, sent, failed].map((error) => mayRetry(method, error))).toEqual([true, false, false])
})

test('a refusal of the service is not retried', () => {
  for (const error of [new InvalidInput(''), new NotFound(''), new AlreadyTerminated(''), new Error('bug')])
    expect(mayRetry('GET', error)).toBe(false)
})

test('which failures may have been carried out', () => {
  expect([unsent, sent, failed, new NotFound('')].map(mayHaveTakenEffect)).toEqual([false, true, true, false])
  expect([new NotFound(''), new AlreadyTerminated(''), failed].map(isGone)).toEqual([true, true, false])
})
