// pure: a deployment's lifecycle, from its request to its end

/** The statuses, in the order in which they are seen (public fact); ERROR can follow any of the first six. */
export type StatusName =
  'INITIALIZING' | 'SEEKING' | 'SEEKED' | 'SCANNING' | 'DEPLOYING' | 'READY' | 'ERROR' | 'TERMINATING' | 'TERMINATED'

const following = { INITIALIZING: 'SEEKING', SEEKING: 'SEEKED', SEEKED: 'SCANNING', SCANNING: 'DEPLOYING' } as const

/** The statuses before READY. */
export type StartingStatus = keyof typeof following | 'DEPLOYING'

/**
 * What is decided in advance about a deployment. Durations are milliseconds of the service's time; Infinity means never
 * by itself.
 */
export interface Plan {
  /** The duration of each status on the way to READY. */
  readonly stages: Readonly<Record<StartingStatus, number>>
  /** Time from the request after which a deployment that is not READY goes to ERROR. */
  readonly timeToDeployMs: number
  /** Time from the request after which the deployment is stopped automatically. */
  readonly maxDurationMs: number
  /** The duration of TERMINATING. */
  readonly terminatingMs: number
  /** The status that follows DEPLOYING: READY, ERROR, or none. */
  readonly outcome: 'ready' | 'error' | 'never'
}

/** The present state of a deployment's lifecycle. */
export interface Life {
  readonly status: StatusName
  readonly lastStatus: StatusName | undefined
  /** When this status began: milliseconds of the service's time since the request. */
  readonly since: number
  /** Whether a stop was requested that waits until the deployment is READY or in ERROR. */
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

/** The next event if nothing intervenes: its time (as in `since`) and the state after it. */
export function nextEvent(life: Life, plan: Plan): { readonly at: number; readonly life: Life } | undefined {
  const event = isStarting(life.status) ? nextWhileStarting(life, life.status, plan) : nextAfterStart(life, plan)
  return event !== undefined && event.at < Infinity ? event : undefined
}

function nextWhileStarting(life: Life, status: StartingStatus, plan: Plan) {
  const stageEnd = status === 'DEPLOYING' && plan.outcome === 'never' ? Infinity : life.since + plan.stages[status]
  const tooLate = Math.max(life.since, plan.timeToDeployMs)
  const stopAt = life.stopRequested ? Infinity : Math.max(life.since, plan.maxDurationMs)
  if (stopAt < Math.min(stageEnd, tooLate)) return { at: stopAt, life: stop(life, stopAt) }
  if (tooLate < stageEnd) return { at: tooLate, life: fail(life, tooLate, 'time_to_deploy exceeded') }
  return { at: stageEnd, life: afterStage(life, status, stageEnd, plan) }
}

function afterStage(life: Life, status: StartingStatus, at: number, plan: Plan): Life {
  if (status !== 'DEPLOYING') return to(following[status], life, at)
  return plan.outcome === 'error' ? fail(life, at, 'the container could not be started') : to('READY', life, at)
}

function nextAfterStart(life: Life, plan: Plan) {
  if (life.status === 'TERMINATED') return undefined
  if (life.status === 'TERMINATING') {
    const at = life.since + plan.terminatingMs
    return { at, life: finish(life, at) }
  }
  const at = life.stopRequested ? life.since : Math.max(life.since, plan.maxDurationMs)
  return { at, life: to('TERMINATING', life, at) }
}

/**
 * Requests a stop. A deployment that is READY or in ERROR stops at once, any other when it reaches either status
 * (service-api, States and transitions). A repeated request changes nothing.
 */
export function stop(life: Life, at: number): Life {
  if (isEnding(life.status)) return life
  const asked = { ...life, stopRequested: true }
  return isStarting(life.status) ? asked : to('TERMINATING', asked, at)
}

/** Moves the deployment to ERROR. No effect in ERROR or any later status. */
export function fail(life: Life, at: number, error: string): Life {
  return isStarting(life.status) || life.status === 'READY' ? to('ERROR', { ...life, error }, at) : life
}

/** Moves the deployment to TERMINATED, because its container has ended. */
export function finish(life: Life, at: number): Life {
  return life.status === 'TERMINATED' ? life : to('TERMINATED', life, at)
}
