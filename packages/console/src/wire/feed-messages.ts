// pure: who may do what in the console; units of the wire
/** What a role may do: see everything and try changed rules; act on players; change rules; change what is deployed. */
export type Permission = 'see' | 'players' | 'rules' | 'deploy'

/** The roles of the console, each with all that it may do. docs/console.md has the same table. */
export const permissionsOf = {
  look: ['see'],
  players: ['see', 'players'],
  rules: ['see', 'rules'],
  operate: ['see', 'players', 'rules'],
  deploy: ['see', 'players', 'rules', 'deploy'],
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
  /** Tickets that arrived, and matches that were found, within the last minute. */
  readonly arrivalsPerMinute: number
  readonly matchesPerMinute: number
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
  readonly createsPerMinute: number
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
  /** Tickets that arrived, and matches found, during the step. */
  readonly arrivals: readonly number[]
  readonly matches: readonly number[]
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
    readonly arrivals: number
    readonly matches: number
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
