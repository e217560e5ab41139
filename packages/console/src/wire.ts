// pure: what the console's page and its server tell one another
/**
 * What the console's page and its server tell one another, as JSON under `/console/api`. In brackets: the permission
 * that a request takes besides `see`.
 *
 * | request | answer |
 * |---|---|
 * | `GET feed` | server-sent events: `hello` (Hello), `now` (Now, twice a second), `step` (HistoryStep), `bye` |
 * | `GET find?id=` | Found |
 * | `GET servers` | ServerList |
 * | `GET acts` | Audit |
 * | `GET queues` | QueueCards |
 * | `PUT queues/{name}` (rules) | Applied |
 * | `POST queues/{name}/pause`, `…/resume` (rules) | 204 |
 * | `POST trials`, `GET trials/{id}`, `DELETE trials/{id}` | Trial; 204 |
 * | `POST tickets/{id}/cancel`, `matches/{id}/stop`, `players/{id}/forgive` (players) | 204 |
 * | `POST servers/{id}/drain`, `enrolments/{key}/revoke` (servers) | 204 |
 * | `GET servers/{requestId}/output`, `POST …/kill` (servers, only in `muster dev -- COMMAND`) | ServerOutput; 204 |
 * | `POST bots` `{ players }` (players, only in `muster dev`) | 202 |
 *
 * A reader of the feed that missed steps gets another `hello`. Every request has the header `Authorization: Bearer …`,
 * the feed too (the page reads it by `fetch`). An error is a Problem: 401 for a token that is missing or wrong, 403 for
 * a role that may not, 404, 409 for an edit of an older version of a queue, 422 for a queue that is wrong (with its
 * faults by line and column), 429.
 */

/** See all and try changed rules; act on players; change rules; drain servers; change what is deployed. */
export type Permission = 'see' | 'players' | 'rules' | 'servers' | 'deploy'

/** The roles of the console, each with all that it may do. docs/console.md has the same table. */
export const permissionsOf = {
  look: ['see'],
  players: ['see', 'players'],
  rules: ['see', 'rules'],
  operate: ['see', 'players', 'rules', 'servers'],
  deploy: ['see', 'players', 'rules', 'servers', 'deploy'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>

export type Role = keyof typeof permissionsOf

export const isAllowed = (role: Role, permission: Permission): boolean =>
  (permissionsOf[role] as readonly Permission[]).includes(permission)

/** Epoch milliseconds. */
export type Moment = number

/** A length of time. */
export type Milliseconds = number

/**
 * The state of everything at one moment. Its size is bounded however many players there are: lists are cut to their
 * stated lengths, and places are clustered. It holds no address and no secret.
 */
export interface Now {
  readonly at: Moment
  /** Whether the program takes players, and if not, why in words. */
  readonly ready: {
    readonly is: boolean
    readonly why: readonly string[]
    /** Whether this process matches; left out where it is the only one. */
    readonly leading?: boolean | undefined
    /** How people know the process that matches, e.g. `game-1 (process 12)`; left out where it is not known. */
    readonly leader?: string | undefined
  }
  /** At most 50, in the order of the configuration. */
  readonly queues: readonly QueueNow[]
  readonly queuesLeftOut: number
  readonly map: MapNow
  /** Matches whose players do not know yet where to connect: at most 50, oldest first. */
  readonly forming: readonly FormingMatch[]
  readonly formingLeftOut: number
  readonly servers: ServersNow
  /** Limits of the service's operations in use, fullest first; at most 20. */
  readonly limits: readonly LimitNow[]
  /** Newest first; at most 30. The same problem again counts up instead of taking a line. */
  readonly problems: readonly ProblemNow[]
}

export interface QueueNow {
  readonly name: string
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /** Tickets that arrived, and matches that were found, within the last minute; null while another process matches. */
  readonly arrivalsPerMinute: number | null
  readonly matchesPerMinute: number | null
  /** Waits of the tickets matched within the last hour; null if there were none. */
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** How long the longest-waiting ticket has waited; null if none waits. */
  readonly oldest: Milliseconds | null
  /** Waiting tickets by how far the queue's rules have relaxed for them, strictest first; at most 12 steps. */
  readonly relaxed: readonly RelaxedStep[]
}

export interface RelaxedStep {
  /** Milliseconds of waiting at which this step begins. */
  readonly after: Milliseconds
  readonly tickets: number
}

export interface MapNow {
  /** Whether places of those who wait are known here: not while another process matches. */
  readonly seen: boolean
  /** Waiting players whose place is known, by area; at most 400 areas. */
  readonly waiting: readonly WaitingCluster[]
  /** Waiting players whose place is not known; 0 unless `seen`. */
  readonly nowhere: number
  /** Servers by place; at most 200 places. */
  readonly servers: readonly ServerCluster[]
}

/** Degrees; rounded to an area, so that no player can be found by it. */
export interface Spot {
  readonly latitude: number
  readonly longitude: number
}

export interface WaitingCluster extends Spot {
  readonly players: number
  readonly oldest: Milliseconds
}

export interface ServerCluster extends Spot {
  readonly city: string | null
  readonly starting: number
  readonly running: number
  readonly players: number
}

/** What a match does before its players know where to connect. */
export type FormingPhase = 'accepting' | 'allocating' | 'starting' | 'waiting'

export interface FormingMatch {
  readonly matchId: string
  readonly queue: string
  readonly phase: FormingPhase
  readonly players: number
  readonly since: Moment
  /** The middle of its players' places, or its server's place; null where neither is known. */
  readonly spot: Spot | null
}

export interface ServersNow {
  /** Servers by what they do: creating, starting, running, stopping, … in words of the matchmaker. */
  readonly byState: readonly { readonly state: string; readonly count: number }[]
  /** The most that may exist at once; null for no bound. */
  readonly most: number | null
  readonly createsPerMinute: number | null
  readonly mostCreatesPerMinute: number | null
  /** Null where the configuration states no price. */
  readonly money: Money | null
}

export interface Money {
  /** E.g. `EUR`. */
  readonly currency: string
  readonly pricePerMinute: number
  readonly perHourNow: number
  /** Within the last hour, or since the start if that is later. */
  readonly lastHour: number
  readonly since: Moment
}

export interface LimitNow {
  readonly operation: string
  readonly perSecond: number
  /** 0 to 1 within the last window. */
  readonly used: number
  /** Calls that wait for the limit. */
  readonly waiting: number
}

export interface ProblemNow {
  readonly at: Moment
  /** One sentence, without secrets and addresses. */
  readonly text: string
  readonly count: number
  readonly matchId: string | null
}

/** Samples at equal steps. Each array has the same length; the last sample is the newest. */
export interface History {
  readonly step: Milliseconds
  /** The end of the first step. */
  readonly from: Moment
  readonly length: number
  readonly queues: readonly QueueHistory[]
  readonly servers: readonly number[]
  /** What is not there, in words: e.g. that the program started ten minutes ago, or that old stories were dropped. */
  readonly missing: readonly string[]
}

export interface QueueHistory {
  readonly name: string
  /** Players who waited at the end of the step. */
  readonly players: readonly number[]
  /** Tickets that arrived, and matches found, during the step; null while another process matched. */
  readonly arrivals: readonly (number | null)[]
  readonly matches: readonly (number | null)[]
  /** Waits of the tickets matched during the step; null if there were none. */
  readonly waitP50: readonly (Milliseconds | null)[]
  readonly waitP95: readonly (Milliseconds | null)[]
}

/** An event `step` of the feed, at the end of each step: one more sample. */
export interface HistoryStep {
  readonly at: Moment
  readonly servers: number
  readonly queues: readonly {
    readonly name: string
    readonly players: number
    readonly arrivals: number | null
    readonly matches: number | null
    readonly waitP50: Milliseconds | null
    readonly waitP95: Milliseconds | null
  }[]
}

/** The first event of the feed, `hello`. */
export interface Hello {
  /** The matchmaker's name in the configuration. */
  readonly name: string
  readonly version: string
  readonly startedAt: Moment
  /** The program's clock: the page's may differ. */
  readonly at: Moment
  /** Who the token says one is, as it stands in the log of what operators do. */
  readonly who: string
  readonly role: Role
  /** Whether a crowd of bots may be let in: only in `muster dev`. */
  readonly bots: boolean
  /** Where tickets are kept. */
  readonly store: 'memory' | 'folder' | 'redis'
  readonly history: History
}

/** The answer of `GET acts`: the newest first, at most 1,000. */
export interface Audit {
  readonly acts: readonly {
    readonly at: Moment
    /** Name of the operator's key. */
    readonly who: string
    /**
     * cancel-ticket, stop-match, drain-server, pause-queue, resume-queue, apply-queue, forgive-cooldown,
     * kill-server, revoke-enrolment or let-bots-in.
     */
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

interface CurvePoint {
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
  /** Of a server: the id by which it is drained, if it is known. */
  readonly serverId: string | null
  /** What an operator may do with it now. */
  readonly actions: readonly StoryAction[]
}

export type StoryAction = 'cancel-ticket' | 'stop-match' | 'forgive-cooldown' | 'drain-server' | 'kill-server'

/** What an operator may do with one thing, by a button. */
export type Action = StoryAction | 'revoke-enrolment'

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
