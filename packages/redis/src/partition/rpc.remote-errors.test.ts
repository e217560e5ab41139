import * as core from '@muster/core'
import * as matchmaker from '@muster/matchmaker'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeError, decodeReply, encode, encodeError } from './rpc.js'

const overTheWire = (error: unknown) => {
  const reply = decodeReply(encode({ id: '1', error: encodeError(error) }))
  if (reply === undefined || !('error' in reply)) throw new Error('no error came over')
  return decodeError(reply.error)
}

const { MusterError } = core
type ErrorClass = new (...given: never[]) => Error
const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === 'function' && value.prototype instanceof MusterError
/** Errors of file stores, which the leader of a partition does not have. */
const NOT_OF_LEADERS = new Set(['StoreLocked', 'StoreCorrupt', 'StoreTorn', 'TicketsGone'])
const classes: readonly ErrorClass[] = [
  ...Object.values<unknown>(matchmaker)
    .filter(isErrorClass)
    .filter(({ prototype }) => !NOT_OF_LEADERS.has(prototype.name)),
  core.InvalidInput,
  core.NotFound,
  core.Conflict,
]

test.each(classes.map((one) => [one.prototype.name as string, one] as const))(
  'the error %s keeps its class, message and fields over RPC',
  (_, Class) => {
    const text = fc.string()
    const fact = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text))
    const facts = fc.record({ field: text, ticketId: text, matchId: text, version: fact, retryAfterMs: fact })
    fc.assert(
      fc.property(text, facts, (message, given) => {
        const error = Object.assign(new MusterError(message), given)
        Object.setPrototypeOf(error, Class.prototype as object)
        const there = overTheWire(error)
        expect(there).toBeInstanceOf(Class)
        expect(there).toBeInstanceOf(MusterError)
        expect(there.constructor).toBe(Class)
        expect([there.name, there.message]).toEqual([error.name, message])
        expect({ ...there }).toEqual({ ...error })
        expect(there.stack).toContain('remote-errors')
      }),
    )
  },
)

test('more than 15 error classes are tested', () => {
  expect(classes.length).toBeGreaterThan(15)
})

test('an unexpected error arrives over RPC as a MusterError with its message, without addresses', () => {
  const there = overTheWire(new TypeError('cannot read 192.0.2.77 of undefined'))
  expect(there.constructor).toBe(MusterError)
  expect(there.message).toContain('TypeError')
  expect(there.message).not.toContain('192.0.2.77')
})

test('a renamed error class keeps its earlier name over RPC', () => {
  const error = new matchmaker.AlreadyAssigned('t1', 'm1')
  expect(encodeError(error).name).toBe('TooLate')
  expect(decodeError(encodeError(error))).toBeInstanceOf(matchmaker.AlreadyAssigned)
})
