// pure: a validated scene; durations as people write them, e.g. `12s` or `1m 30s`
import type { CancelReason, Player, Queue, TicketInput } from '@muster/matchmaker'

/** A validated scene: tickets, events and expectations. All times are milliseconds from the scene's start. */
export interface Scene {
  readonly name: string
  /** Path of the scene in the file. */
  readonly path: readonly string[]
  /** The queues in which the scene's tickets wait. */
  readonly queues: readonly Queue[]
  /** The tickets, in order of arrival. */
  readonly tickets: readonly SceneTicket[]
  readonly happenings: readonly Happening[]
  /** The expectations, in the order of the file. At least one. */
  readonly expectations: readonly Expectation[]
  /** The time of the last expectation. */
  readonly endsAt: number
}

export interface SceneTicket {
  readonly id: string
  readonly path: readonly string[]
  readonly at: number
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority: NonNullable<TicketInput['priority']>
  /** How the players of the ticket respond to a match that requires acceptance. */
  readonly answer: 'accept' | 'decline' | 'none'
}

export interface Happening {
  readonly at: number
  readonly path: readonly string[]
  readonly what: 'cancel' | 'accept' | 'decline' | 'leave' | 'pause' | 'resume'
  /** Ids of tickets. For `pause` and `resume`: names of queues. */
  readonly names: readonly string[]
}

/** An expectation. `after`: it must hold at the time `at`. `by`: it must hold at some time until then. */
export type Expectation = Expected & {
  readonly when: 'after' | 'by'
  readonly at: number
  readonly path: readonly string[]
  /** The expectation as its author wrote it, e.g. `after 12s: matched: [a, b]`. */
  readonly text: string
}

/** The reasons for waiting that are not names of rules. */
export const WAITS_FOR_PLAYERS = 'players'
export const WAITS_FOR_QUEUE = 'paused'

type Tickets = readonly string[]

export type Expected =
  /** All of the tickets are in matches; or none of them is. */
  | { readonly kind: 'matched' | 'unmatched'; readonly tickets: Tickets }
  /**
   * `exactly`: one match has these tickets and no other. `together`: they are in one match. `apart`: no two are in one
   * match.
   */
  | { readonly kind: 'exactly' | 'together' | 'apart'; readonly tickets: Tickets }
  | { readonly kind: 'waiting' | 'refused'; readonly tickets: Tickets; readonly why?: string | undefined }
  | { readonly kind: 'ended'; readonly tickets: Tickets; readonly reason: CancelReason }
  | { readonly kind: 'teams'; readonly teams: readonly ExpectedTeam[] }
  | { readonly kind: 'matches'; readonly min: number; readonly max: number }
  | { readonly kind: 'within'; readonly tickets: Tickets; readonly ms: number }
  | { readonly kind: 'balance' | 'spread'; readonly attribute: string; readonly most: number }

export interface ExpectedTeam {
  /** Name of the team; undefined for a team of any name. */
  readonly name?: string | undefined
  readonly tickets: Tickets
}

/** Maximum duration of a scene: a day of virtual time, after which every limit has relaxed (our choice). */
export const LONGEST_MS = 24 * 3_600_000

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/** Matches a duration. The JSON Schema has the same pattern. */
export const DURATION = /^\d+(\.\d+)?(ms|s|m|min|h)( ?\d+(\.\d+)?(ms|s|m|min|h))*$/

export const NO_DURATION = 'must be a time with its unit, e.g. 12s, 500ms or 1m 30s'
export const TOO_LONG = 'must be at most 24h: a scene of rules ends when every limit has relaxed'

/**
 * Returns the milliseconds of a duration like `1m 30s`; undefined if it is invalid. Fractions of a millisecond are
 * rounded.
 */
export function durationOf(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  const parts = Array.from(text.matchAll(/(\d+(?:\.\d+)?)(ms|min|s|m|h)/g))
  return Math.round(parts.reduce((sum, [, many, unit = '']) => sum + Number(many) * (UNIT_MS[unit] ?? 0), 0))
}

/** Formats milliseconds as a duration: `90000` becomes `1m 30s`. */
export function durationWords(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60]
  const seconds = (ms % 60_000) / 1000
  const parts = [
    ...(hours > 0 ? [`${hours}h`] : []),
    ...(minutes > 0 ? [`${minutes}m`] : []),
    ...(seconds > 0 ? [`${seconds}s`] : []),
  ]
  return parts.join(' ')
}

/** A moment at which something happens or is expected. */
export interface SceneMoment {
  /** `after`: the state at the time `at`. `by`: the state at any time until then. */
  readonly when: 'after' | 'by'
  readonly at: number
}

/** Parses `after 12s` or `by 20s`; undefined for any other string. */
export function momentOf(text: string): SceneMoment | undefined {
  const [, when, time = ''] = /^(after|by) +(.+)$/.exec(text) ?? []
  const at = durationOf(time)
  return at === undefined ? undefined : { when: when as SceneMoment['when'], at }
}
