// pure: what operators did
import type { Milliseconds, Moment } from './feed-messages.js'

/** The answer of `GET acts`: the newest first, at most 1,000. */
export interface Audit {
  readonly acts: readonly {
    readonly at: Moment
    /** Name of the operator's key. */
    readonly who: string
    /** cancel-ticket, stop-match, pause-queue, resume-queue, apply-queue, forgive-cooldown or let-bots-in. */
    readonly what: string
    /** Id of the ticket, match or player, name of the queue, or number of bots. */
    readonly id: string
  }[]
}

/** The body of every answer with an error status. */
export interface Problem {
  readonly code: string
  /** One sentence, fit to be shown. */
  readonly message: string
  readonly field?: string
  /** Where a queue's YAML is wrong, in the order of its lines; only of `PUT queues/{name}` and `POST trials`. */
  readonly faults?: readonly YamlFault[]
}

/** A place in the YAML as it was sent: line and column count from 1. */
export interface YamlFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

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

/** The answer: whether the change is also in the configuration file. */
export interface Applied {
  readonly kept: 'file' | 'memory'
  readonly version: number
  /** Tickets that the new queue refuses, and that were cancelled for it. */
  readonly refused: number
}

/** The answer of `GET servers`. */
export interface ServerList {
  readonly at: Moment
  /** Numbers over all servers, of which `servers` may leave some out. */
  readonly total: number
  readonly players: number
  /** Null where the configuration states no price. */
  readonly cost: number | null
  /** E.g. `EUR`; empty where none is stated. */
  readonly currency: string
  /** By place, and the oldest first in each; at most 1,000. */
  readonly servers: readonly ServerRow[]
}

export interface ServerRow {
  readonly matchId: string
  /** Id of the deployment; null until the service has returned it. */
  readonly requestId: string | null
  readonly queue: string
  /** In words of the matchmaker: creating, starting, running, stopping, … */
  readonly phase: string
  /** E.g. `Frankfurt, Germany`; null where it is not known (yet). */
  readonly place: string | null
  readonly host: string | null
  readonly players: number
  /** When its match asked for it. */
  readonly since: Moment
  /** So far, in `currency`; null where the configuration states no price. */
  readonly cost: number | null
}

export type StoryKind = 'player' | 'ticket' | 'match' | 'server'

/** The answer of `GET find?id=…`: at most a few stories, since one text may be the id of several kinds of things. */
export interface Found {
  readonly id: string
  readonly stories: readonly Story[]
  /** Since when stories are kept here, so that nothing found is understood. */
  readonly since: Moment
}

export interface Story {
  readonly kind: StoryKind
  readonly id: string
  /** The current state in a few words, e.g. `searching for 12 s in duel`. */
  readonly state: string
  /** In the order of time; at most 500. */
  readonly events: readonly StoryEvent[]
  /** Whether earlier events were dropped. */
  readonly cut: boolean
  /** Of a ticket that waits: why, in one sentence, and rule by rule. */
  readonly explanation: StoryExplanation | null
  readonly related: readonly { readonly kind: StoryKind; readonly id: string }[]
  /** What an operator may do with it now. */
  readonly actions: readonly StoryAction[]
}

export type StoryAction = 'cancel-ticket' | 'stop-match' | 'forgive-cooldown'

export interface StoryEvent {
  readonly at: Moment
  /** The kind of event: created, relaxed, found, accepted, declined, returned, deployed, ready, assigned, left, … */
  readonly what: string
  /** One sentence. */
  readonly text: string
  readonly refs: readonly { readonly kind: StoryKind; readonly id: string }[]
}

export interface StoryExplanation {
  readonly summary: string
  readonly queues: readonly {
    readonly queue: string
    readonly summary: string
    /** How many of the others each rule lets through. */
    readonly rules: readonly { readonly rule: string; readonly lets: number; readonly of: number }[]
  }[]
}
