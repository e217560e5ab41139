import { expect, test } from 'vitest'
import { AlreadyTerminated, ConnectionLost, NotFound, ServerError } from './errors.js'
import { isGone, mayHaveTakenEffect } from './retry.js'

const unsent = new ConnectionLost('', { sent: false })
const sent = new ConnectionLost('', { sent: true })
const failed = new ServerError('')

test('mayHaveTakenEffect is true for errors of sent requests, and isGone for NotFound and AlreadyTerminated', () => {
  expect([unsent, sent, failed, new NotFound('')].map(mayHaveTakenEffect)).toEqual([false, true, true, false])
  expect([new NotFound(''), new AlreadyTerminated(''), failed].map(isGone)).toEqual([true, true, false])
})
