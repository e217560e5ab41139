/** Functions for a deployment's status, a string of the form `Status.<NAME>`. Pure. */

/** The meaning of a status for a caller that waits for the deployment. */
export type DeploymentPhase =
  /** On its way to READY. Unknown statuses count as this phase, because only a known status ends a wait. */
  | 'starting'
  | 'ready'
  | 'failed'
  /** Ending or ended: the deployment will not become ready. */
  | 'terminated'

/** Returns the name of a status: `'READY'` for `'Status.READY'`, `'READY'` and `'ready'`. */
export function statusName(status: string): string {
  return status
    .trim()
    .replace(/^status\./i, '')
    .toUpperCase()
}

/** True if two statuses are equal, ignoring the prefix `Status.` and letter case. */
export const sameStatus = (one: string, other: string): boolean => statusName(one) === statusName(other)

/** Returns the phase of a deployment. @param deployment its status view, or the body of its webhook. */
export function deploymentPhase(deployment: {
  readonly current_status: string
  readonly error?: boolean | null | undefined
}): DeploymentPhase {
  switch (statusName(deployment.current_status)) {
    case 'READY':
      return 'ready'
    case 'ERROR':
      return 'failed'
    case 'TERMINATING':
    case 'TERMINATED':
      return 'terminated'
    default:
      return deployment.error === true ? 'failed' : 'starting'
  }
}
