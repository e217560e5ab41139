// pure: the data of the page; the phases in which the page groups statuses; finds deployments by a search text
import type { Counters } from '../counters.js'
import type { StatusName } from '../deployments/index.js'
import type { FaultCount } from '../faults.js'

/**
 * The data of the page, and the answer of /_emulator/state. Everyone who can reach the port can read it, so it has no
 * secrets and no players' addresses. Fields from the document have its names; instants are times of the emulator's
 * clock in format B.
 */
export interface PageState {
  readonly now: string
  readonly speed: number
  /** How a client connects to the emulator. */
  readonly connect: {
    readonly baseUrl: string
    /** The API token, if it is the default, which everybody knows; else null. */
    readonly token: string | null
  }
  readonly deployments: {
    /** Deployments that have not ended. */
    readonly phases: PhaseCounts
    /** Of those, the deployments for which no server could be allocated; they have no location. */
    readonly withoutLocation: number
    /** All deployments that the service remembers. */
    readonly byStatus: Readonly<Partial<Record<StatusName, number>>>
    /** The search text; empty for all deployments. */
    readonly search: string
    /** The number of deployments found. */
    readonly found: number
    /** The latest of the deployments found, the newest first. */
    readonly latest: readonly PageDeployment[]
  }
  /** All places, including those without deployments. */
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
  /** Why the deployment failed, without the details in the service's answers. */
  readonly error: string | null
  /** The city; known here from the start, unlike in the service's answers. Null where no server could be allocated. */
  readonly location: string | null
  readonly tags: readonly string[]
  readonly createdAt: string
  /** Milliseconds since the deployment was requested. */
  readonly ageMs: number
  /** Milliseconds since the present status began. */
  readonly inStatusMs: number
}

/** The numbers of deployments that have not ended, by phase. */
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
  /** The deployments of all four phases. */
  readonly deployments: number
  /** The number of deployments that may run here at once; null for no bound. */
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
  /** The linked versions, each as `application version`. */
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
  /** Users connected, as seen by their packets. */
  readonly connected: number
}

/** The phase of a deployment that has not ended. */
export type PagePhase = 'starting' | 'ready' | 'error' | 'stopping'

/** All phases, in display order. */
export const phases: readonly PagePhase[] = ['ready', 'starting', 'error', 'stopping']

const byStatus: Readonly<Record<StatusName, PagePhase | 'ended'>> = {
  INITIALIZING: 'starting',
  SEEKING: 'starting',
  SEEKED: 'starting',
  SCANNING: 'starting',
  DEPLOYING: 'starting',
  READY: 'ready',
  ERROR: 'error',
  TERMINATING: 'stopping',
  TERMINATED: 'ended',
}

export const phaseOf = (status: StatusName): PagePhase | 'ended' => byStatus[status]

/** All statuses, in the order of the lifecycle. */
export const statusNames = Object.keys(byStatus) as readonly StatusName[]

/** The fields that a search looks at. */
interface Searchable {
  readonly request_id: string
  readonly status: string
  readonly application: string
  readonly version: string
  readonly location: string | null
  readonly error: string | null
  readonly tags: readonly string[]
}

/**
 * Creates a predicate from a search text: each of its words occurs in some field, ignoring case and accents. An empty
 * text matches all.
 */
export function searchFor(text: string): (one: Searchable) => boolean {
  const words = plain(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  return ({ request_id, status, application, version, location, error, tags }) => {
    const all = plain([request_id, status, application, version, location ?? '', error ?? '', ...tags].join('\n'))
    return words.every((word) => all.includes(word))
  }
}

const plain = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
