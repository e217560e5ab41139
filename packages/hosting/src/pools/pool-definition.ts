import { Cron } from 'croner'
import { z } from 'zod'
import { type Deploy, type DeployDefinition, deploySchema, ENROLLED } from '../records/index.js'
import { type EnrolmentDefinition, enrolmentKeySchema, enrolmentSchemaWith } from './enrolment.js'
import { MOST_WARM } from './stock-size.js'

/** A pool of game servers that outlive a match: plain data, e.g. from JSON. A queue names its pool. */
export interface PoolDefinition {
  /** 1 to 64 characters. */
  readonly name: string
  /**
   * What is deployed. Its servers register; so `probe` is `registration`, and left out. Default with `enrol`: nothing,
   * so that all servers come by themselves.
   */
  readonly deploy?: Omit<DeployDefinition, 'probe'> | undefined
  /** Who may add servers that Muster has not started: each entry is a key. Two with one place rotate a key. */
  readonly enrol?: readonly EnrolmentDefinition[] | undefined
  /** Name of the source that its servers come from: one of `sources`. Default: the deployment service. */
  readonly source?: string | undefined
  /**
   * Where servers are kept warm. Default: where matches were, as they come.
   */
  readonly places?: readonly PoolPlaceDefinition[] | undefined
  /** How many servers are kept warm. Default: none; servers are created when matches need them. */
  readonly warm?: WarmDefinition | undefined
  /** How long a server serves. Default: one match. */
  readonly reuse?: ReuseDefinition | undefined
  /** Seconds for which a server without a match is kept although there are enough. Default 60. */
  readonly keepIdleSeconds?: number | undefined
  /**
   * Milliseconds of round trip by which a warm server may be worse for the players of a match than the best place.
   * Default 15. The limit of a latency rule is never exceeded.
   */
  readonly detourMs?: number | undefined
  /** Times at which more are kept. The greatest of all goals counts. */
  readonly at?: readonly ScheduleDefinition[] | undefined
  /** Whether players may start servers of the pool, and how many. Default: they may not. */
  readonly custom?: CustomDefinition | undefined
}

/** Servers that players start and list, for games of their own. */
export interface CustomDefinition {
  /** Servers of one player at a time. Default 1. */
  readonly perPlayer?: number | undefined
  /** Listed servers of the pool at a time. Default 20 (our choice, to bound the cost of a mistake). */
  readonly max?: number | undefined
  /** Seconds for which one is kept without a player. Default 300. */
  readonly emptySeconds?: number | undefined
  /** Attributes that a player may choose, of those that `browser` declares. Default: all. */
  readonly attributes?: readonly string[] | undefined
}

export interface PoolPlaceDefinition {
  /** 1 to 64 characters, for operators. */
  readonly name: string
  /** Degrees, from -90 to 90. */
  readonly latitude: number
  /** Degrees, from -180 to 180. */
  readonly longitude: number
}

export interface WarmDefinition {
  /** Share of matches that are to find a warm server, from 0 to 0.999. Default 0.95. */
  readonly hit?: number | undefined
  /** Idle servers at most, as a share of those that play. Default 0.1. */
  readonly maxIdleShare?: number | undefined
  /** Warm servers of the pool at most. Default 50 (our choice, to bound the cost of a mistake). */
  readonly max?: number | undefined
  /** Server-hours of idleness that may be paid an hour. Default: `max`. */
  readonly perHour?: number | undefined
}

export interface ReuseDefinition {
  /** Matches that a server serves. Default 1. */
  readonly maxMatches?: number | undefined
  /** Minutes after which a server takes no match any more. Default: what `deploy.maxDurationMs` leaves. */
  readonly maxAgeMinutes?: number | undefined
}

export interface ScheduleDefinition {
  /** When it begins: five fields, as in crontab. */
  readonly cron: string
  /** Name of a time zone. Default UTC. */
  readonly timezone?: string | undefined
  /** Minutes for which it holds. */
  readonly minutes: number
  /** Another share of matches that are to find a warm server, whatever stays idle. */
  readonly hit?: number | undefined
  /** Servers that are warm at each place at least. */
  readonly min?: number | undefined
}

const hit = z.number().min(0).max(0.999)

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
    try {
      new Cron(cron, { timezone, paused: true, mode: '5-part' }).nextRun()
    } catch {
      const message = 'must be five fields as in crontab, with a time zone that is known'
      context.addIssue({ code: 'custom', path: ['cron'], message })
    }
    if (goal === undefined && min === undefined)
      context.addIssue({ code: 'custom', path: ['hit'], message: 'must be given, or min instead' })
  })

/** How servers of a pool are deployed. They register, so that a match may be offered to them. */
export const poolDeploySchema = deploySchema
  .refine(({ probe }) => probe === undefined || probe.kind === 'registration', {
    path: ['probe'],
    message: 'must be left out: servers of a pool register',
  })
  .transform((given): Deploy => ({ ...given, probe: given.probe ?? { kind: 'registration', withinMs: 60_000 } }))

const definition = z.strictObject({
  name: z.string().min(1).max(64),
  deploy: poolDeploySchema.optional(),
  source: z.string().min(1).max(64).optional(),
  places: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(64),
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

/** Of a pool whose servers all come by themselves: nothing is deployed. */
const undeployed = ({ name }: { readonly name: string }) =>
  poolDeploySchema.parse({ application: name, version: ENROLLED })

/**
 * The schema of a pool. Its output is valid input again.
 * @param key schema of a key of `enrol`, or of where it is
 */
export const poolSchemaWith = <Key extends z.ZodType>(key: Key) =>
  definition
    .extend({ enrol: z.array(enrolmentSchemaWith(key)).max(64).default([]) })
    .superRefine((pool, context) => {
      const { deploy, places, source } = pool
      const enrol: readonly { readonly place: string }[] = pool.enrol
      const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
      if (deploy === undefined && (enrol.length === 0 || (source ?? ENROLLED) !== ENROLLED))
        refuse(['deploy'], 'must be given, unless all servers of the pool enrol')
      if (source === ENROLLED && enrol.length === 0)
        refuse(['enrol'], 'must have a key: its servers come by themselves')
      for (const [index, { place }] of enrol.entries())
        if (places?.some(({ name }) => name === place) !== true)
          refuse(['enrol', index, 'place'], `must be one of the pool's places, got ${JSON.stringify(place)}`)
    })
    .transform(({ deploy, ...pool }) => {
      const source = deploy === undefined ? ENROLLED : pool.source
      return { ...pool, ...(source !== undefined && { source }), deploy: deploy ?? undeployed(pool) }
    })

/** The schema of a pool with its keys. */
export const poolSchema = poolSchemaWith(enrolmentKeySchema)

/** A pool, checked and with defaults filled in. */
export type Pool = Readonly<z.output<typeof poolSchema>>

type Schedule = Pool['at'][number]

/** For the minute in which each schedule was last asked about, whether it holds: schedules begin on the minute. */
const lastAsked = new WeakMap<Schedule, { readonly minute: number; readonly holds: boolean }>()

function holdsAt(asked: Schedule, now: number): boolean {
  const minute = Math.floor(now / 60_000)
  const last = lastAsked.get(asked)
  if (last?.minute === minute) return last.holds
  const { cron, timezone, minutes } = asked
  const since = new Date((minute - minutes) * 60_000)
  const begun = new Cron(cron, { timezone, paused: true, mode: '5-part' }).nextRun(since)
  const holds = begun !== null && begun.getTime() <= now
  lastAsked.set(asked, { minute, holds })
  return holds
}

/** The goals of the schedules that hold now. @param now date of the wall clock, in epoch milliseconds. */
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
