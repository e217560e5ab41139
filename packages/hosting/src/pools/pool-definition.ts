import { Cron } from 'croner'
import { z } from 'zod'
import { type Deploy, type DeployDefinition, deploySchema, ENROLLED, ShownName } from '../records/index.js'
import { type EnrolmentDefinition, enrolmentKeySchema, enrolmentSchemaWith } from './enrolment.js'
import { MOST_WARM } from './stock-size.js'

/** A pool of game servers that outlive a match: plain data, e.g. from JSON. A queue uses a pool by its name. */
export interface PoolDefinition {
  /** The pool's name, 1 to 64 characters. */
  readonly name: string
  /**
   * How the pool's servers are deployed. `probe` must be omitted, because they always register. Default, only with
   * `enrol`: all servers enrol themselves.
   */
  readonly deploy?: Omit<DeployDefinition, 'probe'> | undefined
  /** Keys with which servers that Muster has not started enrol. For a rotation, use two keys with the same location. */
  readonly enrol?: readonly EnrolmentDefinition[] | undefined
  /** Name of the source of the pool's servers, one of `sources`. Default: the deployment service. */
  readonly source?: string | undefined
  /** Locations where servers are kept warm. Default: locations from which matches come. */
  readonly places?: readonly PoolPlaceDefinition[] | undefined
  /** How many servers are kept warm. Default: none, servers are created when matches need them. */
  readonly warm?: WarmDefinition | undefined
  /** Number of matches, and age, after which a server ends. Default: after one match. */
  readonly reuse?: ReuseDefinition | undefined
  /** Seconds for which a surplus server without a match is kept. Default 60. */
  readonly keepIdleSeconds?: number | undefined
  /**
   * Maximum round trip in milliseconds that a warm server may add for the players of a match, compared with the best
   * location. Default 15. The limit of a latency rule is never exceeded.
   */
  readonly detourMs?: number | undefined
  /** Times at which more servers are kept warm. If several apply at once, the one that needs most servers counts. */
  readonly at?: readonly ScheduleDefinition[] | undefined
  /** Whether players may start servers of the pool, and how many. Default: they may start none. */
  readonly custom?: CustomDefinition | undefined
}

/** Limits of the servers that players start and list. */
export interface CustomDefinition {
  /** Maximum number of concurrent servers of one player. Default 1. */
  readonly perPlayer?: number | undefined
  /**
   * Maximum number of listed servers of the pool at a time. Default 20: our choice, so that a mistake costs only a
   * limited amount.
   */
  readonly max?: number | undefined
  /** Seconds after which a listed server without players ends. Default 300. */
  readonly emptySeconds?: number | undefined
  /** Attributes of the server browser that players may set. Default: all. */
  readonly attributes?: readonly string[] | undefined
}

export interface PoolPlaceDefinition {
  /** The location's name for operators, 1 to 64 characters. */
  readonly name: string
  /** Latitude in degrees, from -90 to 90. */
  readonly latitude: number
  /** Longitude in degrees, from -180 to 180. */
  readonly longitude: number
}

export interface WarmDefinition {
  /** Target share of matches that find a warm server, from 0 to 0.999. Default 0.95. */
  readonly hit?: number | undefined
  /** Maximum number of idle servers, as a share of the servers in use. Default 0.1. */
  readonly maxIdleShare?: number | undefined
  /**
   * Maximum number of warm servers of the pool. Default 50: our choice, so that a mistake costs only a limited amount.
   */
  readonly max?: number | undefined
  /** Maximum number of idle server-hours per hour. Default: `max`. */
  readonly perHour?: number | undefined
}

export interface ReuseDefinition {
  /** Maximum number of matches that a server serves. Default 1. */
  readonly maxMatches?: number | undefined
  /**
   * Minutes after which a server takes no more matches. Default: `deploy.maxDurationMs` minus the longest recent match
   * and 1 minute, but at least half of `deploy.maxDurationMs`.
   */
  readonly maxAgeMinutes?: number | undefined
}

export interface ScheduleDefinition {
  /** When the schedule begins, in `timezone`: five fields as in crontab. */
  readonly cron: string
  /** Time zone of `cron`, e.g. `Europe/Oslo`. Default UTC. */
  readonly timezone?: string | undefined
  /** Duration of the schedule in minutes. */
  readonly minutes: number
  /**
   * Target share of matches that find a warm server; it replaces `warm.hit`. `warm.maxIdleShare` does not limit the
   * number of these servers.
   */
  readonly hit?: number | undefined
  /** Minimum number of warm servers at each location. */
  readonly min?: number | undefined
}

const hit = z.number().min(0).max(0.999)

/** Returns why a schedule would never begin; undefined if it begins. The result does not depend on the present time. */
function faultOfCron(cron: string, timezone: string): string | undefined {
  try {
    const first = new Cron(cron, { timezone, paused: true, mode: '5-part' }).nextRun(new Date(0))
    return first === null ? 'must name a date that exists, such as February 29 but not February 30' : undefined
  } catch {
    return 'must be five fields as in crontab, and timezone a known time zone'
  }
}

const schedule = z
  .strictObject({
    cron: z.string().min(9).max(200),
    timezone: z.string().min(1).max(64).default('UTC'),
    minutes: z
      .int()
      .min(1)
      .max(7 * 1440),
    hit: hit.optional(),
    min: z.int().min(0).max(1000).optional(),
  })
  .superRefine(({ cron, timezone, hit: goal, min }, context) => {
    const fault = faultOfCron(cron, timezone)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: ['cron'], message: fault })
    if (goal === undefined && min === undefined)
      context.addIssue({ code: 'custom', path: ['hit'], message: 'is required unless min is given' })
  })

/** The schema of the deployment settings of a pool. Its servers always register. */
export const poolDeploySchema = deploySchema
  .refine(({ probe }) => probe === undefined || probe.kind === 'registration', {
    path: ['probe'],
    message: 'must be left out: servers of a pool always register',
  })
  .transform((given): Deploy => ({ ...given, probe: given.probe ?? { kind: 'registration', withinMs: 60_000 } }))

const definition = z.strictObject({
  name: ShownName,
  deploy: poolDeploySchema.optional(),
  source: z.string().min(1).max(64).optional(),
  places: z
    .array(
      z.strictObject({
        name: ShownName,
        latitude: z.number().min(-90).max(90),
        longitude: z.number().min(-180).max(180),
      }),
    )
    .min(1)
    .max(64)
    .optional(),
  warm: z
    .strictObject({
      hit: hit.default(0.95),
      maxIdleShare: z.number().min(0).max(100).default(0.1),
      max: z.int().min(0).max(10_000).default(MOST_WARM),
      perHour: z.number().min(0).max(10_000).optional(),
    })
    .optional(),
  reuse: z
    .strictObject({
      maxMatches: z.int().min(1).max(100_000).default(1),
      maxAgeMinutes: z
        .number()
        .min(1)
        .max(7 * 1440)
        .optional(),
    })
    .prefault({}),
  keepIdleSeconds: z.number().min(0).max(86_400).default(60),
  detourMs: z.number().min(0).max(1000).default(15),
  at: z.array(schedule).max(32).default([]),
  custom: z
    .strictObject({
      perPlayer: z.int().min(1).max(100).default(1),
      max: z.int().min(1).max(10_000).default(20),
      emptySeconds: z.number().min(10).max(86_400).default(300),
      attributes: z.array(z.string().min(1).max(64)).max(32).optional(),
    })
    .optional(),
})

/** Returns deployment settings for a pool whose servers all enrol themselves. Nothing is ever deployed with them. */
const undeployed = ({ name }: { readonly name: string }) =>
  poolDeploySchema.parse({ application: name, version: ENROLLED })

/**
 * Returns the schema of a pool. It also accepts its own output.
 * @param key schema of a key of `enrol`, or of a reference to it
 */
export const poolSchemaWith = <Key>(key: z.ZodType<Key>) =>
  definition
    .extend({ enrol: z.array(enrolmentSchemaWith(key)).max(64).default([]) })
    .superRefine((pool, context) => {
      const { deploy, places, source } = pool
      const enrol: readonly { readonly place: string }[] = pool.enrol
      const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
      if (deploy === undefined && (enrol.length === 0 || (source ?? ENROLLED) !== ENROLLED))
        refuse(['deploy'], 'must be given, unless all servers of the pool enrol')
      if (source === ENROLLED && enrol.length === 0)
        refuse(['enrol'], 'must have a key, because the servers of this source must enrol by themselves')
      for (const [index, { place }] of enrol.entries())
        if (places?.some(({ name }) => name === place) !== true)
          refuse(['enrol', index, 'place'], `must be one of the pool's places, got ${JSON.stringify(place)}`)
    })
    .transform(({ deploy, ...pool }) => {
      const source = deploy === undefined ? ENROLLED : pool.source
      return { ...pool, ...(source !== undefined && { source }), deploy: deploy ?? undeployed(pool) }
    })

/** The schema of a pool including its keys. */
export const poolSchema = poolSchemaWith(enrolmentKeySchema)

/** A pool, validated, with defaults filled in. */
export type Pool = Readonly<z.output<typeof poolSchema>>

type Schedule = Pool['at'][number]

/**
 * Whether each schedule was active in the last checked minute. Cached, because schedules begin and end on the minute.
 */
const lastAsked = new WeakMap<Schedule, { readonly minute: number; readonly holds: boolean }>()

function holdsAt(scheduled: Schedule, now: number): boolean {
  const minute = Math.floor(now / 60_000)
  const last = lastAsked.get(scheduled)
  if (last?.minute === minute) return last.holds
  const { cron, timezone, minutes } = scheduled
  const since = new Date((minute - minutes) * 60_000)
  const begun = new Cron(cron, { timezone, paused: true, mode: '5-part' }).nextRun(since)
  const holds = begun !== null && begun.getTime() <= now
  lastAsked.set(scheduled, { minute, holds })
  return holds
}

/** Returns the goals of the active schedules. @param now epoch milliseconds by the wall clock */
export function scheduledGoals(
  { at }: Pick<Pool, 'at'>,
  now: number,
): { readonly hit: number | undefined; readonly min: number } {
  let goal: number | undefined
  let least = 0
  for (const one of at) {
    if (!holdsAt(one, now)) continue
    const { hit: share, min } = one
    if (share !== undefined) goal = Math.max(goal ?? 0, share)
    if (min !== undefined) least = Math.max(least, min)
  }
  return { hit: goal, min: least }
}
