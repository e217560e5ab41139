import { Conflict, InvalidInput, MusterError, NotFound, scrub } from '@muster/core'
import {
  BackfillExists,
  InvalidBackfill,
  InvalidQueue,
  InvalidTicket,
  MatchmakerClosed,
  MatchTooLarge,
  NothingToAccept,
  NotRunning,
  PlayerBusy,
  PlayerOverLimit,
  PlayerPlaying,
  StaleBackfill,
  TooLate,
  Unavailable,
  UnknownBackfill,
  UnknownMatch,
  UnknownQueue,
  UnknownTicket,
} from '@muster/matchmaker'
import type { EncodedError } from './asks.js'

/** The errors that a leader's answers to fronts may be, by name. */
const CLASSES: ReadonlyMap<string, { readonly prototype: Error }> = new Map(
  [
    BackfillExists,
    Conflict,
    InvalidBackfill,
    InvalidInput,
    InvalidQueue,
    InvalidTicket,
    MatchmakerClosed,
    MatchTooLarge,
    NotFound,
    NothingToAccept,
    NotRunning,
    PlayerBusy,
    PlayerOverLimit,
    PlayerPlaying,
    StaleBackfill,
    TooLate,
    Unavailable,
    UnknownBackfill,
    UnknownMatch,
    UnknownQueue,
    UnknownTicket,
  ].map((one) => [one.prototype.name, one]),
)

/** An error as text can hold it. Of an unexpected one, only its message is told. */
export function encodeError(error: unknown): EncodedError {
  if (!(error instanceof MusterError)) return { name: 'MusterError', message: scrub(String(error)), facts: {} }
  const { name, message } = error
  return { name, message, facts: Object.fromEntries(Object.entries(error)) }
}

/** The error again, of the class it had; an unknown one becomes a `MusterError`. */
export function decodeError({ name, message, facts }: EncodedError): MusterError {
  const error = new MusterError(message)
  const known = CLASSES.get(name)
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype)
  return Object.assign(error, facts)
}
