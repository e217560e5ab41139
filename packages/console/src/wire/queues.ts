// pure: queues as a person reads them, and what another rule would have done
import type { Milliseconds, Moment } from './units.js'

/** The answer of `GET queues`. */
export interface QueueCards {
  readonly queues: readonly QueueCard[]
}

export interface QueueCard {
  readonly name: string
  /** Grows with every change: an edit of an older version is refused. */
  readonly version: number
  /** What the queue means, in plain sentences. */
  readonly sentences: readonly string[]
  readonly curves: readonly Curve[]
  /** The definition as in the configuration file, as YAML. Variables of servers are left out. */
  readonly yaml: string
  /** Why nobody may change it here, in words; null if an operator may. */
  readonly fixed: string | null
}

/** A limit of a rule over a ticket's waiting time. */
export interface Curve {
  readonly rule: string
  /** E.g. `km`, `ms`; empty for plain numbers. */
  readonly unit: string
  /** In the order of time. The limit holds from `after` on; between two points of `linear` it grows evenly. */
  readonly shape: 'steps' | 'linear'
  /** Given where the limit follows how many players come: then `after` counts for a ticket without a head start. */
  readonly adapts?: true | undefined
  readonly points: readonly CurvePoint[]
}

export interface CurvePoint {
  readonly after: Milliseconds
  /** Null: the rule no longer counts. */
  readonly limit: number | null
}

/** The body of `POST trials`: one queue as YAML, tried on the tickets of the last hour. */
export interface TrialRequest {
  readonly queue: string
  readonly yaml: string
}

/** The answer of `POST trials` and `GET trials/{id}`. */
export interface Trial {
  readonly id: string
  readonly queue: string
  readonly state: 'running' | 'done' | 'failed'
  /** 0 to 1. */
  readonly progress: number
  /** Of a failed one, in words. */
  readonly error: string | null
  readonly result: TrialResult | null
}

export interface TrialResult {
  readonly from: Moment
  readonly to: Moment
  /** Tickets that were replayed; what could not be, in words. */
  readonly tickets: number
  readonly missing: readonly string[]
  /** Both sides are replays, so that they can be compared. */
  readonly asIs: TrialSide
  readonly changed: TrialSide
  /** What the change means, in sentences. */
  readonly sentences: readonly string[]
}

export interface TrialSide {
  readonly matches: number
  readonly matchedShare: number | null
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** Kilometres between the players of a match, on average; null where places are unknown. */
  readonly meanKm: number | null
  /** Largest differences within a match, on average, by attribute. */
  readonly spreads: readonly { readonly attribute: string; readonly mean: number }[]
}

/** The body of `PUT queues/{name}`. */
export interface ApplyRequest {
  readonly version: number
  readonly yaml: string
}

/** The answer: whether the change also stands in the configuration file. */
export interface Applied {
  readonly kept: 'file' | 'memory'
  readonly version: number
  /** Tickets that the new queue refuses, and that were cancelled for it. */
  readonly refused: number
}
