// pure: the durations of a deployment's lifecycle, decided when the deployment is accepted
import type { Random } from '@muster/core/clock'
import type { VersionRecord } from '../records.js'
import { drawWait, type DeployTimes } from './deploy-times.js'
import type { DeploymentFault } from './deployment-fault.js'
import type { Plan } from './lifecycle.js'

/** The properties of a deployment that change its durations. */
export interface PlanCase {
  readonly cached: boolean
  /** Whether SCANNING is skipped. */
  readonly skipTelemetry: boolean
  readonly fault: DeploymentFault | undefined
  /** Whether every status on the way to READY takes no time. */
  readonly immediate: boolean
}

/** The share of the seeking time that each status takes. */
const seekShares = { INITIALIZING: 0.2, SEEKING: 0.4, SEEKED: 0.1, SCANNING: 0.3 }

const outcomes = { 'stay deploying': 'never', error: 'error', 'no capacity': 'error' } as const

export function drawPlan(version: VersionRecord, how: PlanCase, times: DeployTimes, random: Random): Plan {
  const factor = how.immediate ? 0 : 1
  const seek = factor * drawWait(times.seekMs, times.spread, random)
  const deploy = factor * drawWait(how.cached ? times.cachedDeployMs : times.deployMs, times.spread, random)
  return {
    stages: {
      INITIALIZING: seek * seekShares.INITIALIZING,
      SEEKING: seek * seekShares.SEEKING,
      SEEKED: seek * seekShares.SEEKED,
      SCANNING: how.skipTelemetry ? 0 : seek * seekShares.SCANNING,
      DEPLOYING: deploy,
    },
    timeToDeployMs: version.time_to_deploy * 1000,
    // max_duration counts from the request, so that a deployment left in ERROR ends too. -1 and 0 mean never.
    maxDurationMs: version.max_duration > 0 ? version.max_duration * 60_000 : Infinity,
    terminatingMs: Math.min(
      drawWait(times.terminateMs, times.spread, random),
      version.termination_grace_period_seconds * 1000,
    ),
    outcome: how.fault === undefined ? 'ready' : outcomes[how.fault],
  }
}
