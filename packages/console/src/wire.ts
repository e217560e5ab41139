// pure: the messages between the console's page and its server
/**
 * The messages between the console's page and its server, as JSON under `/console/api`. In brackets: the permission
 * that a request needs in addition to `see`.
 *
 * | request | response |
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
 * A reader of the feed that has missed steps gets another `hello`. Every request has the header `Authorization: Bearer
 * …`. The feed has it too, because the page reads it with `fetch`.
 * The body of an error is an `ErrorBody`. Its status is
 * - 401 for a missing or invalid token,
 * - 403 for a missing permission,
 * - 404 for an unknown object,
 * - 409 for an edit of an older version of a queue,
 * - 422 for an invalid queue, with its faults by line and column, or
 * - 429 for too many requests.
 */

/**
 * The permissions. `see`: see everything, and try changed rules. `players`: act on players. `rules`: change rules.
 * `servers`: drain servers. `deploy`: change what queues deploy.
 */
export type Permission = 'see' | 'players' | 'rules' | 'servers' | 'deploy'

/** The roles of the console, and the permissions of each. docs/console.md has the same table. */
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
 * The current state. Its size is bounded, whatever the number of players: lists have the stated maximum lengths, and
 * locations are clustered. It contains no addresses and no secrets.
 */
export interface Now {
  readonly at: Moment
  /** Whether the program is ready for players, and if not, why in words. */
  readonly ready: {
    readonly is: boolean
    readonly why: readonly string[]
    /** True if this process makes the matches. Omitted if it is the only process. */
    readonly leading?: boolean | undefined
    /** A readable name of the process that makes the matches, e.g. `game-1 (process 12)`. Omitted if unknown. */
    readonly leader?: string | undefined
  }
  /** At most 50 queues, in the order of the configuration. */
  readonly queues: readonly QueueNow[]
  readonly queuesLeftOut: number
  readonly map: MapNow
  /** Matches whose players have no server address yet: at most 50, the oldest first. */
  readonly forming: readonly FormingMatch[]
  readonly formingLeftOut: number
  readonly servers: ServersNow
  /** Rate limits of the deployment service's operations, the fullest first. At most 20. */
  readonly limits: readonly LimitNow[]
  /** At most 30 problems, the newest first. A repeated problem increases its count. */
  readonly problems: readonly ProblemNow[]
}

export interface QueueNow {
  readonly name: string
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /**
   * Number of tickets that arrived and of matches that were found within the last minute; null while another process
   * makes the matches.
   */
  readonly arrivalsPerMinute: number | null
  readonly matchesPerMinute: number | null
  /** Waits of the tickets that were matched within the last hour; null if there were none. */
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** The longest current wait; null if no ticket waits. */
  readonly oldest: Milliseconds | null
  /**
   * Waiting tickets, by how far the queue's rules have relaxed for them: the strictest step first, at most 12 steps.
   */
  readonly relaxed: readonly RelaxedStep[]
}

export interface RelaxedStep {
  /** Milliseconds of waiting at which this step begins. */
  readonly after: Milliseconds
  readonly tickets: number
}

export interface MapNow {
  /** True if this process knows the locations of waiting players; false while another process makes the matches. */
  readonly seen: boolean
  /** Waiting players with a known location, by area. At most 400 areas. */
  readonly waiting: readonly WaitingCluster[]
  /** Number of waiting players without a known location. 0 if `seen` is false. */
  readonly nowhere: number
  /** Servers by location. At most 200 locations. */
  readonly servers: readonly ServerCluster[]
}

/** Degrees, rounded so coarsely that no player can be located by them. */
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

/** The phase of a match before its players have a server address. */
export type FormingPhase = 'accepting' | 'allocating' | 'starting' | 'waiting'

export interface FormingMatch {
  readonly matchId: string
  readonly queue: string
  readonly phase: FormingPhase
  readonly players: number
  readonly since: Moment
  /** The centre of the players' locations, or else the location of the server; null if neither is known. */
  readonly spot: Spot | null
}

export interface ServersNow {
  /** Number of servers in each of the matchmaker's states: creating, starting, running, stopping, … */
  readonly byState: readonly { readonly state: string; readonly count: number }[]
  /** Number of these servers that enrolled: they count neither for `most` nor for `money`. */
  readonly own: number
  /** Maximum number of servers that may exist at a time; null for no limit. */
  readonly most: number | null
  readonly createsPerMinute: number | null
  readonly mostCreatesPerMinute: number | null
  /** The cost; null if the configuration has no price. */
  readonly money: Money | null
}

export interface Money {
  /** Currency, e.g. `EUR`. */
  readonly currency: string
  readonly pricePerMinute: number
  readonly perHourNow: number
  /** Cost within the last hour, or since the start if that is later. */
  readonly lastHour: number
  readonly since: Moment
}

export interface LimitNow {
  readonly operation: string
  readonly perSecond: number
  /** Used fraction of the limit within the last window, from 0 to 1. */
  readonly used: number
  /** Number of calls that wait for the limit. */
  readonly waiting: number
}

export interface ProblemNow {
  readonly at: Moment
  /** A sentence without secrets and addresses. */
  readonly text: string
  readonly count: number
  readonly matchId: string | null
}

/** Samples at equal steps. All arrays have the same length. The last sample is the newest. */
export interface History {
  readonly step: Milliseconds
  /** The time at which the first step ended. */
  readonly from: Moment
  readonly length: number
  readonly queues: readonly QueueHistory[]
  readonly servers: readonly number[]
  /** Sentences about missing data, e.g. that the program started ten minutes ago, or that old events were dropped. */
  readonly missing: readonly string[]
}

export interface QueueHistory {
  readonly name: string
  /** Number of waiting players at the end of the step. */
  readonly players: readonly number[]
  /**
   * Number of tickets that arrived and of matches that were found during the step; null while another process made the
   * matches.
   */
  readonly arrivals: readonly (number | null)[]
  readonly matches: readonly (number | null)[]
  /** Waits of the tickets that were matched during the step; null if there were none. */
  readonly waitP50: readonly (Milliseconds | null)[]
  readonly waitP95: readonly (Milliseconds | null)[]
}

/** The event `step` of the feed. It has one more sample, and is sent at the end of each step. */
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

/** The event `hello`, which is the first one of the feed. */
export interface Hello {
  /** The matchmaker's name in the configuration. */
  readonly name: string
  readonly version: string
  readonly startedAt: Moment
  /** The time by the program's clock. The page's clock may differ. */
  readonly at: Moment
  /** The name of the token's owner, as the operators' log has it. */
  readonly who: string
  readonly role: Role
  /** True if bots can be added: only in `muster dev`. */
  readonly bots: boolean
  /** Where tickets are stored. */
  readonly store: 'memory' | 'folder' | 'redis'
  readonly history: History
}

/** The response of `GET acts`, the audit log of operators: at most 1,000 actions, the newest first. */
export interface Audit {
  readonly acts: readonly {
    readonly at: Moment
    /** Name of the operator's key. */
    readonly who: string
    /**
     * The action: cancel-ticket, stop-match, drain-server, pause-queue, resume-queue, apply-queue, forgive-cooldown,
     * kill-server, revoke-enrolment or let-bots-in.
     */
    readonly what: string
    /** Id of the ticket, match or player, name of the queue, or number of bots. */
    readonly id: string
  }[]
}

/** The body of every response with an error status. */
export interface ErrorBody {
  readonly code: string
  /** One sentence that can be shown to the operator. */
  readonly message: string
  readonly field?: string
  /** The faults of a queue's YAML, in the order of the lines. Only for `PUT queues/{name}` and `POST trials`. */
  readonly faults?: readonly YamlFault[]
}

/** A position in the YAML that was sent. Line and column count from 1. */
export interface YamlFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The response of `GET queues`. */
export interface QueueCards {
  readonly queues: readonly QueueCard[]
}

export interface QueueCard {
  readonly name: string
  /** A number that grows with every change. An edit of an older version is rejected. */
  readonly version: number
  /** The meaning of the queue, in plain sentences. */
  readonly sentences: readonly string[]
  readonly curves: readonly Curve[]
  /** The definition as YAML, as in the configuration file, but without the variables of servers. */
  readonly yaml: string
  /** Why the queue cannot be changed here, in words; null if an operator may change it. */
  readonly fixed: string | null
}

/** The limit of a rule over a ticket's waiting time. */
export interface Curve {
  readonly rule: string
  /** Unit of the limit, e.g. `km` or `ms`; empty for plain numbers. */
  readonly unit: string
  /**
   * `steps`: the limit of a point applies from its `after` on. `linear`: the limit changes linearly between two points.
   * Points are in chronological order.
   */
  readonly shape: 'steps' | 'linear'
  /** True if the limit follows a target wait. `after` then applies to a ticket without a head start. */
  readonly adapts?: true | undefined
  readonly points: readonly CurvePoint[]
}

interface CurvePoint {
  readonly after: Milliseconds
  /** The value of the limit; null if the rule no longer applies. */
  readonly limit: number | null
}

/** The body of `POST trials`: one queue as YAML, to be tried on the tickets of the last hour. */
export interface TrialRequest {
  readonly queue: string
  readonly yaml: string
}

/** The response of `POST trials` and `GET trials/{id}`. */
export interface Trial {
  readonly id: string
  readonly queue: string
  readonly state: 'running' | 'done' | 'failed'
  /** Done share of the trial, from 0 to 1. */
  readonly progress: number
  /** The reason of a failure, in words. */
  readonly error: string | null
  readonly result: TrialResult | null
}

export interface TrialResult {
  readonly from: Moment
  readonly to: Moment
  /** Number of replayed tickets, and what could not be replayed, in words. */
  readonly tickets: number
  readonly missing: readonly string[]
  /** The results with the current and with the changed queue. Both are replays, so they can be compared. */
  readonly asIs: TrialSide
  readonly changed: TrialSide
  /** The effect of the change, in sentences. */
  readonly sentences: readonly string[]
}

export interface TrialSide {
  readonly matches: number
  readonly matchedShare: number | null
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** Mean distance between the players of a match in kilometres; null if locations are unknown. */
  readonly meanKm: number | null
  /** Mean of the largest difference within a match, by attribute. */
  readonly spreads: readonly { readonly attribute: string; readonly mean: number }[]
}

/** The body of `PUT queues/{name}`. */
export interface ApplyRequest {
  readonly version: number
  readonly yaml: string
}

/** The response of `PUT queues/{name}`. `kept` says whether the change was also written to the configuration file. */
export interface Applied {
  readonly kept: 'file' | 'memory'
  readonly version: number
  /** Number of tickets that were cancelled because they do not fit the changed queue. */
  readonly refused: number
}

export type StoryKind = 'player' | 'ticket' | 'match' | 'server'

/**
 * The response of `GET find?id=…`. A story is what happened to one object. There may be several stories, because one
 * string may be the id of objects of several kinds.
 */
export interface FoundStories {
  readonly id: string
  readonly stories: readonly Story[]
  /** The time at which the stored history begins. It explains why nothing may be found. */
  readonly since: Moment
}

export interface Story {
  readonly kind: StoryKind
  readonly id: string
  /** The current state in a few words, e.g. `searching for 12 s in duel`. */
  readonly state: string
  /** The events in chronological order, at most 500. */
  readonly events: readonly StoryEvent[]
  /** True if earlier events were dropped. */
  readonly cut: boolean
  /** Why a waiting ticket waits, in one sentence and rule by rule; null for any other story. */
  readonly explanation: StoryExplanation | null
  readonly related: readonly { readonly kind: StoryKind; readonly id: string }[]
  /** The id by which a server is drained; null if it is unknown, or if the story is not about a server. */
  readonly serverId: string | null
  /** The actions that an operator may take now. */
  readonly actions: readonly StoryAction[]
}

export type StoryAction = 'cancel-ticket' | 'stop-match' | 'forgive-cooldown' | 'drain-server' | 'kill-server'

/** An action that an operator can take on an object by a button. */
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
    /** For each rule: the number of other tickets (`of`), and how many of them the rule accepts (`lets`). */
    readonly rules: readonly { readonly rule: string; readonly lets: number; readonly of: number }[]
  }[]
}
