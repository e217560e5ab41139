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
 * A reader of the feed that missed steps gets another `hello`. Every request has the header `Authorization: Bearer …`,
 * the feed too (the page reads it by `fetch`). An error is a Problem: 401 for a missing or invalid token, 403 for a
 * missing permission, 404, 409 for an edit of an older version of a queue, 422 for an invalid queue (with its faults by
 * line and column), 429.
 */

/**
 * The permissions: see everything and try changed rules; act on players; change rules; drain servers; change
 * deployments.
 */
export type Permission = 'see' | 'players' | 'rules' | 'servers' | 'deploy'

/** The roles of the console and their permissions. docs/console.md has the same table. */
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
 * The current state. Its size is bounded regardless of the number of players: lists are cut to the given lengths, and
 * locations are clustered. It contains no addresses or secrets.
 */
export interface Now {
  readonly at: Moment
  /** Whether the program accepts players, and if not, why in words. */
  readonly ready: {
    readonly is: boolean
    readonly why: readonly string[]
    /** Whether this process matches. Omitted if it is the only one. */
    readonly leading?: boolean | undefined
    /** A readable name of the matching process, e.g. `game-1 (process 12)`. Omitted if unknown. */
    readonly leader?: string | undefined
  }
  /** At most 50, in the order of the configuration. */
  readonly queues: readonly QueueNow[]
  readonly queuesLeftOut: number
  readonly map: MapNow
  /** Matches whose players have no server address yet: at most 50, oldest first. */
  readonly forming: readonly FormingMatch[]
  readonly formingLeftOut: number
  readonly servers: ServersNow
  /** Limits of the service's operations, the fullest first. At most 20. */
  readonly limits: readonly LimitNow[]
  /** At most 30, newest first. A repeated problem increases its count. */
  readonly problems: readonly ProblemNow[]
}

export interface QueueNow {
  readonly name: string
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /** Tickets that arrived and matches that were found within the last minute. Null while another process matches. */
  readonly arrivalsPerMinute: number | null
  readonly matchesPerMinute: number | null
  /** Waits of the tickets matched within the last hour. Null if there were none. */
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** The longest current wait. Null if no ticket waits. */
  readonly oldest: Milliseconds | null
  /** Waiting tickets by how far the queue's rules have relaxed for them, strictest first. At most 12 steps. */
  readonly relaxed: readonly RelaxedStep[]
}

export interface RelaxedStep {
  /** Milliseconds of waiting at which this step begins. */
  readonly after: Milliseconds
  readonly tickets: number
}

export interface MapNow {
  /** Whether this process knows the locations of waiting players. False while another process matches. */
  readonly seen: boolean
  /** Waiting players with a known location, by area. At most 400 areas. */
  readonly waiting: readonly WaitingCluster[]
  /** Number of waiting players without a known location. 0 unless `seen`. */
  readonly nowhere: number
  /** Servers by location. At most 200 locations. */
  readonly servers: readonly ServerCluster[]
}

/** Degrees, rounded to an area, so that no player can be located by it. */
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
  /** The centre of its players' locations, or its server's location. Null if neither is known. */
  readonly spot: Spot | null
}

export interface ServersNow {
  /** Number of servers by state: creating, starting, running, stopping, … in the matchmaker's terms. */
  readonly byState: readonly { readonly state: string; readonly count: number }[]
  /** Maximum number that may exist at once. Null for no limit. */
  readonly most: number | null
  readonly createsPerMinute: number | null
  readonly mostCreatesPerMinute: number | null
  /** Null if the configuration has no price. */
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
  /** Used fraction of the limit within the last window, 0 to 1. */
  readonly used: number
  /** Number of calls that wait for the limit. */
  readonly waiting: number
}

export interface ProblemNow {
  readonly at: Moment
  /** One sentence, without secrets and addresses. */
  readonly text: string
  readonly count: number
  readonly matchId: string | null
}

/** Samples at equal steps. All arrays have the same length. The last sample is the newest. */
export interface History {
  readonly step: Milliseconds
  /** The end of the first step. */
  readonly from: Moment
  readonly length: number
  readonly queues: readonly QueueHistory[]
  readonly servers: readonly number[]
  /** Sentences about missing data, e.g. that the program started ten minutes ago, or that old stories were dropped. */
  readonly missing: readonly string[]
}

export interface QueueHistory {
  readonly name: string
  /** Number of waiting players at the end of the step. */
  readonly players: readonly number[]
  /** Tickets that arrived and matches that were found during the step. Null while another process matched. */
  readonly arrivals: readonly (number | null)[]
  readonly matches: readonly (number | null)[]
  /** Waits of the tickets matched during the step. Null if there were none. */
  readonly waitP50: readonly (Milliseconds | null)[]
  readonly waitP95: readonly (Milliseconds | null)[]
}

/** The event `step` of the feed, sent at the end of each step: one more sample. */
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

/** The event `hello`, the first of the feed. */
export interface Hello {
  /** The matchmaker's name in the configuration. */
  readonly name: string
  readonly version: string
  readonly startedAt: Moment
  /** The program's clock. The page's clock may differ. */
  readonly at: Moment
  /** The name of the token's owner, as written to the operators' log. */
  readonly who: string
  readonly role: Role
  /** Whether bots can be added: only in `muster dev`. */
  readonly bots: boolean
  /** Where tickets are stored. */
  readonly store: 'memory' | 'folder' | 'redis'
  readonly history: History
}

/** The response of `GET acts`: at most 1,000 entries, the newest first. */
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

/** The body of every response with an error status. */
export interface ErrorBody {
  readonly code: string
  /** One sentence that can be shown to the operator. */
  readonly message: string
  readonly field?: string
  /** The faults of a queue's YAML, in the order of its lines. Only for `PUT queues/{name}` and `POST trials`. */
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
  /** Grows with every change. An edit of an older version is rejected. */
  readonly version: number
  /** The meaning of the queue, in plain sentences. */
  readonly sentences: readonly string[]
  readonly curves: readonly Curve[]
  /** The definition as in the configuration file, as YAML. It omits variables of servers. */
  readonly yaml: string
  /** Why nobody may change it here, in words. Null if an operator may. */
  readonly fixed: string | null
}

/** A limit of a rule over a ticket's waiting time. */
export interface Curve {
  readonly rule: string
  /** E.g. `km`, `ms`. Empty for plain numbers. */
  readonly unit: string
  /** In chronological order. The limit holds from `after` on. Between two points of `linear` it grows linearly. */
  readonly shape: 'steps' | 'linear'
  /** Set if the limit follows a target wait. `after` then applies to a ticket without a head start. */
  readonly adapts?: true | undefined
  readonly points: readonly CurvePoint[]
}

interface CurvePoint {
  readonly after: Milliseconds
  /** Null: the rule no longer counts. */
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
  /** 0 to 1. */
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
  /** Both sides are replays, so that they can be compared. */
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
  /** Mean distance between the players of a match in kilometres. Null if locations are unknown. */
  readonly meanKm: number | null
  /** Mean of the largest difference within a match, by attribute. */
  readonly spreads: readonly { readonly attribute: string; readonly mean: number }[]
}

/** The body of `PUT queues/{name}`. */
export interface ApplyRequest {
  readonly version: number
  readonly yaml: string
}

/** The response: whether the change was also written to the configuration file. */
export interface Applied {
  readonly kept: 'file' | 'memory'
  readonly version: number
  /** Number of tickets that were cancelled because the new queue refuses them. */
  readonly refused: number
}

export type StoryKind = 'player' | 'ticket' | 'match' | 'server'

/**
 * The response of `GET find?id=…`: at most a few stories, because one string may be the id of several kinds of things.
 */
export interface FoundStories {
  readonly id: string
  readonly stories: readonly Story[]
  /** The start of the stored history, which explains why nothing may be found. */
  readonly since: Moment
}

export interface Story {
  readonly kind: StoryKind
  readonly id: string
  /** The current state in a few words, e.g. `searching for 12 s in duel`. */
  readonly state: string
  /** In chronological order, at most 500. */
  readonly events: readonly StoryEvent[]
  /** Whether earlier events were dropped. */
  readonly cut: boolean
  /** For a waiting ticket: why it waits, in one sentence and rule by rule. */
  readonly explanation: StoryExplanation | null
  readonly related: readonly { readonly kind: StoryKind; readonly id: string }[]
  /** For a server: the id with which it is drained, if known. */
  readonly serverId: string | null
  /** The actions that an operator may take now. */
  readonly actions: readonly StoryAction[]
}

export type StoryAction = 'cancel-ticket' | 'stop-match' | 'forgive-cooldown' | 'drain-server' | 'kill-server'

/** An action that an operator can take on one thing, with a button. */
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
    /** The number of other tickets that each rule accepts. */
    readonly rules: readonly { readonly rule: string; readonly lets: number; readonly of: number }[]
  }[]
}
