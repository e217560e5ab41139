// pure: what happened to one player, ticket, match or server
import type { Moment } from './units.js'

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
  /** Where it stands now, in a few words, e.g. `searching for 12 s in duel`. */
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
