import { z } from 'zod'
import { InvalidQueue } from './errors.js'
import { ANYWHERE, type DistanceStep } from './grouping/reach.js'
import { read } from './read.js'
import { isReserved, LONGEST_TAG } from './tags.js'

/** What to deploy for a match. */
export interface DeployDefinition {
  /** Application and version to deploy, by name. */
  readonly application: string
  readonly version: string
  /** Environment variables for the server, besides the MM_ ones. Each value at most 4096 bytes (public fact). */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The same, marked as hidden to the service. */
  readonly hiddenEnvironment?: Readonly<Record<string, string>> | undefined
  /** Tags for the deployment, each 1 to 40 characters, besides ours, which begin with `mm-` and `match-`. */
  readonly tags?: readonly string[] | undefined
  /** Only places that have the image cached. Default false. */
  readonly requireCachedLocations?: boolean | undefined
  /** Milliseconds from create to READY after which the deployment counts as failed. Default 180,000 (our choice). */
  readonly readyTimeoutMs?: number | undefined
}

/** A queue as it is written down: plain data, from JSON if you like. */
export interface QueueDefinition {
  /** 1 to 64 characters. */
  readonly name: string
  /** Players in a match, 1 to 500. A match has exactly so many. */
  readonly matchSize: number
  /**
   * How far apart tickets may be, relaxing with their waiting time; see `DistanceStep`. The first step has
   * `afterMs: 0`; both columns grow. Without it, anyone goes with anyone.
   */
  readonly distance?: readonly DistanceStep[] | undefined
  /** Milliseconds after which a ticket that still searches is cancelled. Default 300,000. */
  readonly expireAfterMs?: number | undefined
  /** Failed deployments after which a ticket is cancelled instead of searching again. Default 3. */
  readonly maxAttempts?: number | undefined
  readonly deploy: DeployDefinition
}

/** A queue that was checked, with every default filled in. */
export interface Queue extends QueueDefinition {
  readonly distance: readonly DistanceStep[]
  readonly expireAfterMs: number
  readonly maxAttempts: number
  readonly deploy: Readonly<{ [Key in keyof DeployDefinition]-?: Exclude<DeployDefinition[Key], undefined> }>
}

const LONGEST_VALUE_BYTES = 4096
const duration = z
  .number()
  .positive()
  .max(7 * 24 * 3600 * 1000)

const environment = z
  .record(
    z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable'),
    z
      .string()
      .refine(
        (value) => Buffer.byteLength(value) <= LONGEST_VALUE_BYTES,
        `must be at most ${LONGEST_VALUE_BYTES} bytes of UTF-8`,
      ),
  )
  .superRefine((variables, context) => {
    for (const key of Object.keys(variables)) {
      if (key.startsWith('MM_'))
        context.addIssue({ code: 'custom', path: [key], message: 'names beginning with MM_ are set by the matchmaker' })
    }
  })
  .default({})

const km = z.custom<DistanceStep['km']>(
  (value) => value === 'any' || (typeof value === 'number' && value > 0 && value < Infinity),
  "must be a number above 0 or 'any'",
)

const distance = z
  .array(z.strictObject({ afterMs: z.number().min(0), km }))
  .min(1)
  .max(20)
  .superRefine((steps, context) => {
    const refuse = (index: number, key: keyof DistanceStep, message: string) =>
      context.addIssue({ code: 'custom', path: [index, key], message })
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1]
      if (before === undefined) {
        if (step.afterMs !== 0) refuse(index, 'afterMs', 'must be 0 in the first step')
        continue
      }
      if (step.afterMs <= before.afterMs) refuse(index, 'afterMs', `must be more than ${before.afterMs}, that of the step before`)
      if (before.km === 'any' || (step.km !== 'any' && step.km <= before.km)) {
        refuse(index, 'km', `must be more than ${before.km}, that of the step before`)
      }
    }
  })

const schema: z.ZodType<Queue> = z.strictObject({
  name: z.string().min(1).max(64),
  matchSize: z.int().min(1).max(500),
  distance: distance.default([...ANYWHERE]),
  expireAfterMs: duration.default(300_000),
  maxAttempts: z.int().min(1).default(3),
  deploy: z.strictObject({
    application: z.string().min(1),
    version: z.string().min(1),
    environment,
    hiddenEnvironment: environment,
    tags: z
      .array(
        z
          .string()
          .min(1)
          .max(LONGEST_TAG)
          .refine((tag) => !isReserved(tag), 'tags beginning with mm- and match- are set by the matchmaker'),
      )
      .default([]),
    requireCachedLocations: z.boolean().default(false),
    readyTimeoutMs: duration.default(180_000),
  }),
})

/**
 * Checks a queue and fills in its defaults. What it returns may be given to it again.
 * @throws {InvalidQueue} naming the path and the value, e.g. `queue "duel": matchSize: …, got 0`.
 */
export function defineQueue(definition: QueueDefinition): Queue {
  const name: unknown = (definition as Partial<QueueDefinition> | null)?.name
  const which = typeof name === 'string' ? `queue ${JSON.stringify(name.slice(0, 64))}: ` : 'queue: '
  return read(schema, definition, (field, message) => new InvalidQueue(which + message, { field }))
}
