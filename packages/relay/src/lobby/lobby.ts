// pure: the state of a lobby
import { faultOfShownName } from '@muster/core/internal'
import { z } from 'zod'
import type { ReadySession } from '../sessions/index.js'

export type AttributeValue = string | number | boolean

/**
 * Small named values, e.g. a map's name or a colour. Not for chat or secrets: every member sees them. The objects are
 * frozen, because a store in memory shares them with its callers.
 */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** New values by name; null deletes a value. */
export type AttributeChanges = Readonly<Record<string, AttributeValue | null>>

/** Limits (our choice): all attributes of a lobby of 64 players stay below 40 KB. */
const MOST_KEYS = 32
const LONGEST_VALUE = 256
/** Maximum length of all names and strings together, in UTF-16 units. */
const MOST_TEXT = 4096

const name = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, 'must be a name of 1 to 64 letters, digits and _.- that begins with a letter')
const value = z.union([z.string().max(LONGEST_VALUE), z.number(), z.boolean()], {
  error: `must be a text of at most ${LONGEST_VALUE} characters, a finite number, or true or false`,
})

/** Refuses an invisible name, because players see the attribute `name` of a lobby or a member. */
function refuseUnseenName({ name: shown }: AttributeChanges, context: z.RefinementCtx): void {
  const message = typeof shown === 'string' ? faultOfShownName(shown) : undefined
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['name'], message })
}

export const AttributesSchema: z.ZodType<Attributes> = z
  .record(name, value)
  .refine((attributes) => fits(attributes), {
    error: `must have at most ${MOST_KEYS} names and ${MOST_TEXT} characters`,
  })
  .superRefine(refuseUnseenName)
  .overwrite((attributes) => Object.freeze(attributes))
export const AttributeChangesSchema: z.ZodType<AttributeChanges> = z
  .record(name, z.union([value, z.null()]))
  .superRefine(refuseUnseenName)
  .overwrite((attributes) => Object.freeze(attributes))

/** Merges changes into attributes; undefined if the result would be too large. */
export function merged(attributes: Attributes, changes: AttributeChanges): Attributes | undefined {
  const entries = Object.entries({ ...attributes, ...changes }).filter(
    (entry): entry is [string, AttributeValue] => entry[1] !== null,
  )
  const result = Object.freeze(Object.fromEntries(entries))
  return fits(result) ? result : undefined
}

function fits(attributes: Attributes): boolean {
  const entries = Object.entries(attributes)
  const text = entries.reduce((sum, [key, one]) => sum + key.length + (typeof one === 'string' ? one.length : 0), 0)
  return entries.length <= MOST_KEYS && text <= MOST_TEXT
}

/** True if the attributes have every wanted value. */
export const has = (attributes: Attributes, wanted: Attributes): boolean =>
  Object.entries(wanted).every(([key, one]) => Object.hasOwn(attributes, key) && attributes[key] === one)

/**
 * Why a member left a lobby:
 * - `left`: by the member's own command;
 * - `kicked`: removed by the host, and may join again;
 * - `banned`: removed by the host, and may not join again;
 * - `timed out`: away for longer than `holdSlotMs`.
 */
export type LeftReason = 'left' | 'kicked' | 'banned' | 'timed out'

/**
 * Why a lobby was closed:
 * - `by host`: by the host's command;
 * - `empty`: without members for `emptyMs`;
 * - `idle`: without activity for `idleMs`, while no game runs;
 * - `too old`: after `maxLifetimeMs`;
 * - `shutdown`: the lobbies of this process were shut down.
 */
export type ClosedReason = 'by host' | 'empty' | 'idle' | 'too old' | 'shutdown'

/** An event of a lobby, which never holds a token or an address. */
export type Happening =
  | { readonly type: 'member.joined'; readonly playerId: string; readonly slot: number }
  | { readonly type: 'member.left'; readonly playerId: string; readonly reason: LeftReason }
  /** The member is away: no longer ready, without credentials. The slot is reserved for a limited time. */
  | { readonly type: 'member.away'; readonly playerId: string }
  | { readonly type: 'member.back'; readonly playerId: string }
  | { readonly type: 'member.ready'; readonly playerId: string; readonly ready: boolean }
  | {
      readonly type: 'member.data'
      readonly playerId: string
      readonly changes: AttributeChanges
      readonly version: number
    }
  | { readonly type: 'host.changed'; readonly hostId: string | null }
  | { readonly type: 'data.changed'; readonly changes: AttributeChanges; readonly version: number }
  /** Only for the host: a player requests to join. */
  | { readonly type: 'applicant.waiting'; readonly playerId: string }
  /** Only for the applicant: the host has decided. */
  | { readonly type: 'applicant.decided'; readonly approved: boolean }
  | { readonly type: 'lobby.starting'; readonly term: number }
  /** The host has changed, or the session was lost: a new session follows, with a higher number (`term`). */
  | { readonly type: 'relay.moving'; readonly term: number }
  /** The credentials of this term are valid; those of lower terms are not any more. */
  | { readonly type: 'relay.ready'; readonly term: number }
  /** Only for a player who joined after the start: the credentials are available. */
  | { readonly type: 'relay.credentials'; readonly term: number }
  /** Only for the host: the relay service refuses the member, who is tried again in five minutes. */
  | { readonly type: 'relay.refused'; readonly playerId: string }
  /** The start, or the move to another session, failed: the lobby is open again. */
  | { readonly type: 'run.failed'; readonly term: number; readonly reason: string }
  /** The run ended, or was cancelled because a player left: the lobby is open again, and nobody is ready. */
  | { readonly type: 'run.ended'; readonly term: number }
  /** The matchmaker has accepted the players; `reference` is its name for them. */
  | { readonly type: 'match.handed-over'; readonly term: number; readonly reference: string }
  /** The match has an assignment, which the run of this term contains. */
  | { readonly type: 'match.assigned'; readonly term: number }
  /** Only for the player who is no longer a member. */
  | { readonly type: 'you.left'; readonly reason: LeftReason }
  | { readonly type: 'lobby.closed'; readonly reason: ClosedReason }

export type LobbyEvent = Happening & {
  /** Counts from 1 without gaps in a lobby. A player sees gaps for events to others. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  /** The only player who gets the event; undefined for all members. */
  readonly to: string | undefined
}

/** How players who have found the lobby may join. */
export type Entry =
  | { readonly kind: 'open' }
  /** `digest` is computed from the password and `salt`; the password itself is not stored. */
  | { readonly kind: 'password'; readonly salt: string; readonly digest: string }
  /** The host decides about each player. */
  | { readonly kind: 'approval' }

export interface Member {
  readonly id: string
  /** Canonical address. Other players never see it. */
  readonly ip: string
  /** From 0; unique in the lobby. */
  readonly slot: number
  /** Epoch milliseconds since when the player has been present continuously; undefined while away. */
  readonly presentSince: number | undefined
  /**
   * Epoch milliseconds since when the player is away; the slot is reserved for a limited time. Undefined if present.
   */
  readonly awaySince: number | undefined
  readonly lastSeenAt: number
  readonly ready: boolean
  readonly data: Attributes
  readonly dataVersion: number
}

/** A player who waits for the host's decision. */
export interface Applicant {
  readonly id: string
  readonly ip: string
  readonly since: number
  /** The data with which the player will be admitted. Undefined in a record of an earlier version. */
  readonly data?: Attributes | undefined
  /** True if the host has denied the player. Stored for a limited time, so that a repeated request changes nothing. */
  readonly denied: boolean
}

/**
 * The session or match of a started lobby. `term` is its number, which rises with every start and every new session.
 */
export type Run =
  /** `worker` is the process that has started the run. If that process is gone, it may have left a session. */
  | { readonly status: 'allocating'; readonly term: number; readonly worker: string | undefined }
  | { readonly status: 'relayed'; readonly term: number; readonly session: ReadySession }
  /** The matchmaker has the players, and searches for others or for a server. */
  | { readonly status: 'handed-over'; readonly term: number; readonly reference: string }
  | { readonly status: 'assigned'; readonly term: number; readonly assignment: Attributes }

/** A relay session, or a reference of the matchmaker, that has to be ended. */
export interface Retired {
  readonly id: string
  /** The term whose session must be ready before this session is ended, because peers use it until then. */
  readonly afterTerm: number | undefined
}

/**
 * A lobby in the form that a store keeps: plain data with secrets and addresses. Never changed in place, except that a
 * store may record there when a member was last seen (`LobbyStore.noteSeen`).
 */
export interface Lobby {
  readonly id: string
  readonly code: string
  readonly visibility: 'public' | 'private'
  readonly maxPlayers: number
  readonly entry: Entry
  /** True if players may join after the start. */
  readonly lateJoin: boolean
  /** True if all present members must be ready for the start. */
  readonly requireReady: boolean
  readonly outcome: 'relay' | 'match'
  readonly createdAt: number
  /** Epoch milliseconds of the last command other than a heartbeat. */
  readonly activeAt: number
  readonly phase: 'open' | 'starting' | 'running' | 'closed'
  readonly closedAt: number | undefined
  /** Player id of the host; undefined only while nobody is present. */
  readonly hostId: string | undefined
  /** Sorted by slot. */
  readonly members: readonly Member[]
  readonly emptySince: number | undefined
  readonly applicants: readonly Applicant[]
  /** Banned players, the longest banned first. */
  readonly banned: readonly string[]
  /** Players who left, each with the slot to which they can return while it is free. */
  readonly departed: readonly { readonly id: string; readonly slot: number; readonly until: number }[]
  readonly data: Attributes
  readonly dataVersion: number
  /** Term of the last run, including an ended one. */
  readonly term: number
  readonly run: Run | undefined
  readonly retired: readonly Retired[]
  /** The process that currently manages the run, and until when. */
  readonly lease: { readonly worker: string; readonly until: number } | undefined
  /** Number of the last event. */
  readonly seq: number
  /** The last events, oldest first. */
  readonly events: readonly LobbyEvent[]
}

export const isPresent = ({ awaySince }: Member): boolean => awaySince === undefined
export const presentMembers = ({ members }: Lobby): readonly Member[] => members.filter(isPresent)
/** Returns the players who wait for the host's decision. */
export const waitingApplicants = ({ applicants }: Lobby): readonly Applicant[] =>
  applicants.filter(({ denied }) => !denied)
export const memberOf = ({ members }: Lobby, playerId: string): Member | undefined =>
  members.find(({ id }) => id === playerId)

export const withMember = (lobby: Lobby, member: Member): Lobby => ({
  ...lobby,
  members: lobby.members.map((other) => (other.id === member.id ? member : other)),
})

/** Returns the session that currently relays for the lobby. */
export const sessionOf = ({ run }: Lobby): ReadySession | undefined =>
  run?.status === 'relayed' ? run.session : undefined

/** Number of events that are kept for returning players. A player who has missed more gets a snapshot instead. */
const KEPT = 64

/** Returns the lobby with one more event. */
export function withEvent(lobby: Lobby, now: number, happening: Happening, to?: string): Lobby {
  const seq = lobby.seq + 1
  const event: LobbyEvent = { ...happening, seq, at: now, to }
  return { ...lobby, seq, events: [...lobby.events.slice(1 - KEPT), event] }
}

/** Returns the events after `seq`; undefined if some of them are no longer stored, or `seq` is none of this lobby. */
export function eventsAfter({ events, seq: last }: Lobby, seq: number): readonly LobbyEvent[] | undefined {
  if (seq > last || (events[0]?.seq ?? 1) > seq + 1) return undefined
  return events.filter((event) => event.seq > seq)
}

/** The properties of a lobby that are decided before it exists. */
export interface NewLobby extends Pick<
  Lobby,
  'id' | 'code' | 'visibility' | 'maxPlayers' | 'entry' | 'lateJoin' | 'requireReady' | 'outcome' | 'data'
> {
  readonly host: Pick<Member, 'id' | 'ip' | 'data'>
}

/** Returns a member who has just joined. */
export const newMember = (given: Pick<Member, 'id' | 'ip' | 'slot' | 'data'>, now: number): Member => ({
  ...given,
  presentSince: now,
  awaySince: undefined,
  lastSeenAt: now,
  ready: false,
  dataVersion: 1,
})

/** Creates a lobby whose creator is its first member and its host. */
export const newLobby = ({ host, ...given }: NewLobby, now: number): Lobby => ({
  ...given,
  createdAt: now,
  activeAt: now,
  phase: 'open',
  closedAt: undefined,
  hostId: host.id,
  members: [newMember({ ...host, slot: 0 }, now)],
  emptySince: undefined,
  applicants: [],
  banned: [],
  departed: [],
  dataVersion: 1,
  term: 0,
  run: undefined,
  retired: [],
  lease: undefined,
  seq: 0,
  events: [],
})
