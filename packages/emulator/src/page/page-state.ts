// pure: what the page shows
import type { Counters } from '../counters.js'
import type { StatusName } from '../deployments/lifecycle.js'
import type { FaultCount } from '../faults/faults.js'
import type { PagePhase } from './page-phase.js'

/**
 * What the page shows, and what is answered at /_emulator/state. Whoever can reach the port can read it: no secrets, no
 * addresses of players. Fields that the document has bear its names; instants are the emulator's clock's, in format B.
 */
export interface PageState {
  readonly now: string
  readonly speed: number
  /** How a client is told to find the emulator. */
  readonly connect: {
    readonly baseUrl: string
    /** Only where it is the one that everybody knows. */
    readonly token: string | null
  }
  readonly deployments: {
    /** Those that have not ended. */
    readonly phases: PhaseCounts
    /** Of those, the ones for which no server could be allocated; they are at no location. */
    readonly withoutLocation: number
    /** All that the service remembers. */
    readonly byStatus: Readonly<Partial<Record<StatusName, number>>>
    /** What was searched for; empty for all. */
    readonly search: string
    /** How many were found. */
    readonly found: number
    /** Of those, the newest, first. */
    readonly latest: readonly PageDeployment[]
  }
  /** All places, the empty ones too. */
  readonly locations: readonly PageLocation[]
  readonly applications: readonly PageApplication[]
  readonly fleets: readonly PageFleet[]
  readonly faults: readonly FaultCount[]
  readonly relaySessions: RelayTotals
  readonly counters: Counters
}

export interface PageDeployment {
  readonly request_id: string
  readonly application: string
  readonly version: string
  readonly status: StatusName
  /** Why it failed, without the details that the service's answers have. */
  readonly error: string | null
  /**
   * A city; known here from the first moment on, unlike in the service's answers. Null where no server could be
   * allocated.
   */
  readonly location: string | null
  readonly tags: readonly string[]
  readonly createdAt: string
  /** Milliseconds since it was asked for. */
  readonly ageMs: number
  /** Milliseconds since it came to its status. */
  readonly inStatusMs: number
}

/** Deployments that have not ended, by what they are doing. */
export type PhaseCounts = Readonly<Record<PagePhase, number>>

export interface PageLocation extends PhaseCounts {
  readonly id: string
  readonly city: string
  readonly country: string
  readonly continent: string
  /** Degrees. */
  readonly latitude: number
  /** Degrees. */
  readonly longitude: number
  /** Sum of the four. */
  readonly deployments: number
  /** Null for any number. */
  readonly capacity: number | null
}

export interface PageApplication {
  readonly name: string
  readonly active: boolean
  readonly versions: readonly { readonly name: string; readonly active: boolean; readonly phases: PhaseCounts }[]
}

export interface PageFleet {
  readonly name: string
  readonly enabled: boolean
  /** `application version`. */
  readonly versions: readonly string[]
  readonly policies: readonly {
    readonly name: string
    readonly enabled: boolean
    readonly minimum: number
    readonly maximum: number
    readonly phases: PhaseCounts
  }[]
}

export interface RelayTotals {
  readonly sessions: number
  readonly ready: number
  readonly users: number
  /** Users whose packets have been coming in. */
  readonly connected: number
}
