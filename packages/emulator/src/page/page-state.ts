// pure: the phases into which the page groups statuses; finds deployments by a search text
import type { StatusName } from '../deployments/index.js'

/** The phase of a deployment that has not ended. */
export type PagePhase = 'starting' | 'ready' | 'error' | 'stopping'

/** The numbers of deployments that have not ended, by phase. */
export type PhaseCounts = Readonly<Record<PagePhase, number>>

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

/** The fields of a deployment that a search reads. */
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
 * Creates a predicate from a search text. Each word of the text must occur in some field, without regard to case and
 * accents. An empty text matches all.
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
