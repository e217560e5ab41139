// pure: a deployment's lifecycle, from its request to its end, and the durations of its steps
import type { Random } from '@muster/core/clock'
import type { VersionRecord } from '../records.js'

/** The statuses, in the order in which they occur (public fact); ERROR can follow any of the first six. */
export type StatusName =
  | 'INITIALIZING'
  | 'SEEKING'
  | 'SEEKED'
  | 'SCANNING'
  | 'DEPLOYING'
  | 'READY'
  | 'ERROR'
  | 'TERMINATING'
  | 'TERMINATED'

const following = { INITIALIZING: 'SEEKING', SEEKING: 'SEEKED', SEEKED: 'SCANNING', SCANNING: 'DEPLOYING' } as const

/** The statuses before READY. */
type StartingStatus = keyof typeof following | 'DEPLOYING'

/** The predetermined course of a deployment. Durations are milliseconds of simulated time; Infinity means never. */
export interface DeploymentPlan {
  /** The duration of each status on the way to READY. */
  readonly stages: Readonly<Record<StartingStatus, number>>
  /** Milliseconds from the request after which a deployment that is not READY goes to ERROR. */
  readonly timeToDeployMs: number
  /** Milliseconds from the request after which the deployment is stopped automatically. */
  readonly maxDurationMs: number
  /** Duration of the status TERMINATING. */
  readonly terminatingMs: number
  /** The status after DEPLOYING: READY, ERROR, or none. */
  readonly outcome: 'ready' | 'error' | 'never'
}

/** The current state of a deployment's lifecycle. */
export interface Life {
  readonly status: StatusName
  readonly lastStatus: StatusName | undefined
  /** Time at which this status began, in milliseconds of simulated time since the request. */
  readonly since: number
  /** True if a stop was requested. It takes effect once the deployment is READY or in ERROR. */
  readonly stopRequested: boolean
  /** Why the deployment is, or was, in ERROR. */
  readonly error: string | undefined
}

export const newborn: Life = {
  status: 'INITIALIZING',
  lastStatus: undefined,
  since: 0,
  stopRequested: false,
  error: undefined,
}

export const isStarting = (status: StatusName): status is StartingStatus =>
  status === 'DEPLOYING' || status in following
export const isEnding = (status: StatusName): boolean => status === 'TERMINATING' || status === 'TERMINATED'

const to = (status: StatusName, life: Life, at: number): Life => ({
  ...life,
  status,
  lastStatus: life.status,
  since: at,
})

/**
 * Returns the next event if nothing intervenes: its time, counted like `since`, and the state after it. Undefined if
 * there is none.
 */
export function nextEvent(life: Life, plan: DeploymentPlan): { readonly at: number; readonly life: Life } | undefined {
  const event = isStarting(life.status) ? nextWhileStarting(life, life.status, plan) : nextAfterStart(life, plan)
  return event !== undefined && event.at < Infinity ? event : undefined
}

function nextWhileStarting(life: Life, status: StartingStatus, plan: DeploymentPlan) {
  const stageEnd = status === 'DEPLOYING' && plan.outcome === 'never' ? Infinity : life.since + plan.stages[status]
  const tooLate = Math.max(life.since, plan.timeToDeployMs)
  const stopAt = life.stopRequested ? Infinity : Math.max(life.since, plan.maxDurationMs)
  if (stopAt < Math.min(stageEnd, tooLate)) return { at: stopAt, life: stop(life, stopAt) }
  if (tooLate < stageEnd) return { at: tooLate, life: fail(life, tooLate, 'time_to_deploy exceeded') }
  return { at: stageEnd, life: afterStage(life, status, stageEnd, plan) }
}

function afterStage(life: Life, status: StartingStatus, at: number, plan: DeploymentPlan): Life {
  if (status !== 'DEPLOYING') return to(following[status], life, at)
  return plan.outcome === 'error' ? fail(life, at, 'the container could not be started') : to('READY', life, at)
}

function nextAfterStart(life: Life, plan: DeploymentPlan) {
  if (life.status === 'TERMINATED') return undefined
  if (life.status === 'TERMINATING') {
    const at = life.since + plan.terminatingMs
    return { at, life: finish(life, at) }
  }
  const at = life.stopRequested ? life.since : Math.max(life.since, plan.maxDurationMs)
  return { at, life: to('TERMINATING', life, at) }
}

/**
 * Requests a stop. A deployment that is READY or in ERROR stops immediately, any other when it reaches either status
 * (service-api, States and transitions). A repeated request changes nothing.
 */
export function stop(life: Life, at: number): Life {
  if (isEnding(life.status)) return life
  const stopping = { ...life, stopRequested: true }
  return isStarting(life.status) ? stopping : to('TERMINATING', stopping, at)
}

/** Moves the deployment to ERROR. No effect in ERROR or any later status. */
export function fail(life: Life, at: number, error: string): Life {
  return isStarting(life.status) || life.status === 'READY' ? to('ERROR', { ...life, error }, at) : life
}

/** Moves the deployment to TERMINATED. Called when its container has ended. */
export function finish(life: Life, at: number): Life {
  return life.status === 'TERMINATED' ? life : to('TERMINATED', life, at)
}

/**
 * Median durations in milliseconds of simulated time, before `speed`. Each duration is drawn from a log-normal
 * distribution, whose long tail is typical of such waits.
 */
export interface DeployTimes {
  /** From the request to the choice of a location: the statuses from INITIALIZING to SCANNING. */
  readonly seekMs: number
  /** Duration of DEPLOYING if the image is cached. */
  readonly cachedDeployMs: number
  /** Duration of DEPLOYING if the image has to be pulled. */
  readonly deployMs: number
  /** From SIGTERM until a simulated container has ended. The version's grace period is its maximum. */
  readonly terminateMs: number
  /**
   * Standard deviation of the logarithm: at 0.4, 95 % of the durations are under 1.9 times the median. With 0, every
   * duration equals the median.
   */
  readonly spread: number
}

/**
 * The default medians (our choice). A deployment takes about 2 s in total if the image is cached, about 11 s otherwise.
 */
export const defaultDeployTimes: DeployTimes = {
  seekMs: 700,
  cachedDeployMs: 1200,
  deployMs: 10_000,
  terminateMs: 1000,
  spread: 0.4,
}

/** Draws a duration around the median, in milliseconds. */
export function drawWait(medianMs: number, spread: number, random: Random): number {
  // The Box–Muller transform. The logarithm is finite, because a random number is below 1.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return medianMs * Math.exp(spread * normal)
}

/**
 * A fault of a deployment:
 * - `stay deploying`: the deployment never becomes READY. Once the version's time_to_deploy has passed, it goes to
 *   ERROR, as the service promises.
 * - `error`: the deployment goes to ERROR instead of READY.
 * - `no capacity`: no server can be allocated for the deployment.
 */
export type DeploymentFault = 'stay deploying' | 'error' | 'no capacity'

/** The properties of a deployment that change its durations. */
interface PlanCase {
  readonly cached: boolean
  /** True if SCANNING is skipped. */
  readonly skipTelemetry: boolean
  readonly fault: DeploymentFault | undefined
  /** True if every status on the way to READY takes no time. */
  readonly immediate: boolean
}

/** Share of `seekMs` that each status takes. */
const seekShares = { INITIALIZING: 0.2, SEEKING: 0.4, SEEKED: 0.1, SCANNING: 0.3 }

const outcomes = { 'stay deploying': 'never', error: 'error', 'no capacity': 'error' } as const

export function drawPlan(version: VersionRecord, how: PlanCase, times: DeployTimes, random: Random): DeploymentPlan {
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
    // max_duration counts from the request, so that a deployment that stays in ERROR ends too. With -1 and 0 it never
    // ends.
    maxDurationMs: version.max_duration > 0 ? version.max_duration * 60_000 : Infinity,
    terminatingMs: Math.min(
      drawWait(times.terminateMs, times.spread, random),
      version.termination_grace_period_seconds * 1000,
    ),
    outcome: how.fault === undefined ? 'ready' : outcomes[how.fault],
  }
}
