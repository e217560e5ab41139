// pure: how a deployment goes from its request to its end

/** In the order in which they are seen (public fact); ERROR can come from any of the first six. */
export type StatusName =
  'INITIALIZING' | 'SEEKING' | 'SEEKED' | 'SCANNING' | 'DEPLOYING' | 'READY' | 'ERROR' | 'TERMINATING' | 'TERMINATED'

const following = { INITIALIZING: 'SEEKING', SEEKING: 'SEEKED', SEEKED: 'SCANNING', SCANNING: 'DEPLOYING' } as const

/** The statuses before READY. */
export type StartingStatus = keyof typeof following | 'DEPLOYING'

/**
 * What is known beforehand about a deployment. Milliseconds of the service's time; Infinity for what is not to happen
 * by itself.
 */
export interface Plan {
  /** How long each status on the way to READY lasts. */
  readonly stages: Readonly<Record<StartingStatus, number>>
  /** From the request: ERROR if it is not READY by then. */
  readonly timeToDeployMs: number
  /** From the request: when it is stopped automatically. */
  readonly maxDurationMs: number
  /** How long TERMINATING lasts. */
  readonly terminatingMs: number
  /** What comes after DEPLOYING. */
  readonly outcome: 'ready' | 'error' | 'never'
}

/** Where a deployment stands. */
export interface Life {
  readonly status: StatusName
  readonly lastStatus: StatusName | undefined
  /** When it came to this status: milliseconds of the service's time from the request. */
  readonly since: number
  /** Asked to stop, which happens once it is READY or in ERROR. */
  readonly stopRequested: boolean
  /** Why it is, or was, in ERROR. */
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

/** What happens next if nothing comes in between: when (as `since`), and where it stands then. */
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
 * Asked to stop: at once when READY or in ERROR, else upon either (service-api, States and transitions). Asking again
 * changes nothing.
 */
export function stop(life: Life, at: number): Life {
  if (isEnding(life.status)) return life
  const asked = { ...life, stopRequested: true }
  return isStarting(life.status) ? asked : to('TERMINATING', asked, at)
}

/** Something broke. Nothing more can break in ERROR or afterwards. */
export function fail(life: Life, at: number, error: string): Life {
  return isStarting(life.status) || life.status === 'READY' ? to('ERROR', { ...life, error }, at) : life
}

/** The container has ended. */
export function finish(life: Life, at: number): Life {
  return life.status === 'TERMINATED' ? life : to('TERMINATED', life, at)
}
