// pure: what a status means to who looks at the page
import type { StatusName } from '../deployments/lifecycle.js'

/** What a deployment that has not ended is doing. */
export type PagePhase = 'starting' | 'ready' | 'error' | 'stopping'

/** In the order in which they are shown. */
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

/** All statuses, in the order in which they are gone through. */
export const statusNames = Object.keys(byStatus) as readonly StatusName[]
