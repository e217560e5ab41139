// pure: questions of fronts to the leader, and its answers
import type { Leader } from '@muster/matchmaker/partition'
import type { PackedSighting } from './sightings.js'

/** What a front asks the leader to do. */
export type Command =
  | 'acceptMatch'
  | 'declineMatch'
  | 'explain'
  | 'playersLeft'
  | 'stopMatch'
  | 'serverReady'
  | 'isServerSecret'
  | 'createBackfill'
  | 'getBackfill'
  | 'updateBackfill'
  | 'cancelBackfill'
  | 'inspect'
  | 'longestWaiting'
  | 'cooldownsOf'
  | 'forgive'
  | 'learnedWaits'
  | 'pauseQueue'
  | 'resumeQueue'
  | 'notePresence'
  | 'hint'
  | 'webhook'

interface PackedInputs {
  /** Instead of a request. */
  readonly webhook: readonly [path: string, body: string]
  readonly notePresence: readonly [sightings: readonly PackedSighting[]]
}

/** What a command takes: as the method of its name, except for what is packed. */
export type Input<Name extends Command> = Name extends keyof PackedInputs
  ? PackedInputs[Name]
  : Parameters<Leader[Name]>

/** What a command answers: as the method of its name, but the status of a webhook's answer. */
export type Answer<Name extends Command> = Name extends 'webhook' ? number : Awaited<ReturnType<Leader[Name]>>

/**
 * A question. The leader answers each id once; a front repeats a question, under its id, until it is answered: the
 * leader may have changed in between. A command that is done already changes nothing more, but its answer may then be
 * that there is no such match, or nothing to accept.
 */
export interface Ask {
  readonly id: string
  /** Name of the front that waits for the answer. */
  readonly front: string
  readonly command: Command
  readonly input: readonly unknown[]
}

export type Reply =
  | { readonly id: string; readonly answer: unknown }
  | { readonly id: string; readonly error: EncodedError }

export interface EncodedError {
  readonly name: string
  readonly message: string
  /** Further properties, e.g. `field`. */
  readonly facts: Readonly<Record<string, unknown>>
}

export const encode = (message: Ask | Reply): string => JSON.stringify(message)

/** Undefined for what is no message of ours, e.g. of another version. */
export function decodeAsk(text: string): Ask | undefined {
  const ask = parsed(text) as Partial<Ask> | undefined
  const fits = typeof ask?.id === 'string' && typeof ask.front === 'string' && Array.isArray(ask.input)
  return fits && typeof ask.command === 'string' ? (ask as Ask) : undefined
}

export function decodeReply(text: string): Reply | undefined {
  const reply = parsed(text) as Partial<Reply> | undefined
  return typeof reply?.id === 'string' ? (reply as Reply) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}
