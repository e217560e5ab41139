import * as core from '@muster/core'
import * as matchmaker from '@muster/matchmaker'
import type { EncodedError } from './asks.js'

const { MusterError, scrub } = core

/** The errors that a leader's answers to fronts may be, by name. */
const CLASSES: ReadonlyMap<string, object> = new Map(
  [...Object.values<unknown>(core), ...Object.values<unknown>(matchmaker)].flatMap((one) =>
    typeof one === 'function' && one.prototype instanceof MusterError ? [[one.prototype.name, one.prototype]] : [],
  ),
)

/** An error as text can hold it. Of an unexpected one, only its message is told. */
export function encodeError(error: unknown): EncodedError {
  if (!(error instanceof MusterError)) return { name: 'MusterError', message: scrub(String(error)), facts: {} }
  const { name, message } = error
  return { name, message, facts: Object.fromEntries(Object.entries(error)) }
}

/** The error again, of the class it had; an unknown one becomes a `MusterError`. */
export function decodeError({ name, message, facts }: EncodedError): core.MusterError {
  const error = new MusterError(message)
  const known = CLASSES.get(name)
  if (known !== undefined) Object.setPrototypeOf(error, known)
  return Object.assign(error, facts)
}
