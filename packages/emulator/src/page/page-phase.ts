// pure: the phases in which the page groups statuses
import type { StatusName } from '../deployments/lifecycle.js'

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
