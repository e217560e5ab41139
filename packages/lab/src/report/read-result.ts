import { InvalidInput } from '@muster/core'
import { isObject, read, readJson } from '@muster/core/internal'
import { z } from 'zod'
import { type LabResult, RESULT_FORMAT, WAIT_POINTS_MS } from '../figures/index.js'

const count = z.int().min(0)
const amount = z.number().min(0)
const share = z.number().min(0).max(1)
const name = z.string().max(1000)

const spread = z.strictObject({
  count,
  mean: z.number(),
  p10: z.number(),
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
  p99: z.number(),
  max: z.number(),
})

const ENDS = [
  'assigned',
  'gaveUp',
  'refused',
  'waiting',
  'otherQueue',
  'expired',
  'attempts',
  'closed',
  'declined',
  'not-accepted',
  'elsewhere',
  'absent',
  'dissolved',
  'handed-over',
] as const

const slice = z.strictObject({
  players: count,
  matched: share,
  gaveUp: share,
  ends: z.partialRecord(z.enum(ENDS), share),
  waitMs: spread,
  toPlayMs: spread,
  waitCurve: z.array(share).length(WAIT_POINTS_MS.length),
  distanceKm: spread,
  latencyMs: spread,
  skillSpread: spread,
  teamGap: spread,
  winChance: spread,
})

/** The schema of values by name. A map is used, because zod would drop the name `__proto__` from a record. */
const byName = <Value extends z.ZodType>(value: Value) =>
  z.preprocess(asMap, z.map(z.string(), value, { error: notObject })).transform((values) => Object.fromEntries(values))

const asMap = (given: unknown): unknown => (isObject(given) ? new Map(Object.entries(given)) : given)

/** Returns the error for a value that is no object. A missing value has zod's usual error instead. */
const notObject = ({ input }: { readonly input?: unknown }) => (input === undefined ? undefined : 'must be an object')

const matches = z.strictObject({
  count,
  teamGap: spread,
  favourite: spread,
  favouriteShares: z.array(share).length(10),
})
const step = z.strictObject({ after: amount, limit: z.number().nullable(), share })
const expansion = z.strictObject({ rule: name, unit: name, steps: z.array(step).min(1).max(256) })
const groupFairness = z.strictObject({
  uneven: share,
  groups: byName(z.strictObject({ ofAll: share, ofWorst: share })),
})

const servers = z.strictObject({
  created: count,
  most: count,
  hours: amount,
  playingHours: amount,
  idleHours: amount,
  bootHours: amount,
  cost: amount.optional(),
  currency: name.optional(),
})

const figures = z.strictObject({
  all: slice,
  by: z.strictObject({
    queue: byName(slice),
    region: byName(slice),
    partySize: byName(slice),
    skillBand: byName(slice),
  }),
  skillBands: z.array(z.strictObject({ name, from: z.number(), to: z.number().nullable() })),
  matches,
  queues: byName(z.strictObject({ matches, expansion: z.array(expansion) })),
  fairness: z.strictObject({
    share,
    fromMs: amount.nullable(),
    by: z.strictObject({ region: groupFairness, partySize: groupFairness, skillBand: groupFairness }),
  }),
  refusals: z.array(z.strictObject({ why: name, share })).max(6),
  servers,
  pools: byName(servers.extend({ matches: count, warm: share, toPlayMs: spread })),
  requests: byName(
    z.strictObject({ total: count, busiest: count, limit: amount.optional(), windowMs: amount.optional() }),
  ),
})

const possible = z.strictObject({
  queue: name,
  what: name,
  unit: name,
  reached: z.number(),
  possible: z.number(),
  kind: z.enum(['optimum', 'lower bound']),
})

const ratings = z.strictObject({
  matches: count,
  calibration: z.array(z.strictObject({ from: share, matches: count, predicted: share, won: share })),
  convergence: z.array(z.strictObject({ matches: count, players: count, correlation: z.number(), error: amount })),
  experience: z.array(z.strictObject({ name, players: count, played: share, waitMs: spread, favourite: spread })),
})

const run = z.strictObject({
  figures,
  ratings: ratings.optional(),
  possible: z.array(possible).optional(),
})

const described = z.array(z.strictObject({ name, sentences: z.array(z.string()) }))

const variant = z.strictObject({
  name: name.min(1),
  queues: described,
  pools: described,
  runs: z.array(run).min(1),
})

const different = (values: readonly unknown[]) => new Set(values).size === values.length

/** The schema of a saved result. `validate` rewords zod's messages. */
const resultSchema = z
  .strictObject({
    format: z.literal(RESULT_FORMAT),
    crowd: z.strictObject({ name, players: count, parties: count, startsAt: z.number(), durationMs: amount }),
    seeds: z.array(z.number()).min(1).refine(different, 'must all be different'),
    variants: z
      .array(variant)
      .min(1)
      .refine((variants) => different(variants.map((one) => one.name)), 'must have different names'),
    /** The output of `--json` contains comparisons. They are ignored and computed again. */
    comparisons: z.unknown().optional(),
  })
  .superRefine(({ seeds, variants }, context) => {
    for (const [index, { runs }] of variants.entries())
      if (runs.length !== seeds.length)
        context.addIssue({
          code: 'custom',
          path: ['variants', index, 'runs'],
          message: `must have a run for each of the ${seeds.length} seeds, and has ${runs.length}`,
        })
  }) as z.ZodType<unknown> as z.ZodType<LabResult>

/**
 * Reads a saved result, as `muster lab run --out` writes it.
 * @throws {InvalidInput} naming the field and the fault, or line and column if the text is not JSON.
 */
export function readResult(text: string): LabResult {
  const value = readJson(text, (fault) => refusal('', fault))
  const format = isObject(value) ? value['format'] : undefined
  if (format !== RESULT_FORMAT) throw refusal('format', formatWords(format))
  return read(resultSchema, value, refusal)
}

const refusal = (field: string, message: string) => new InvalidInput(message, { field })

function formatWords(format: unknown): string {
  if (typeof format !== 'string') return 'is not a result of muster lab run --out'
  return /^muster-lab-result-\d+$/.test(format)
    ? `has the format ${format}, and this version reads ${RESULT_FORMAT}: run the lab again`
    : 'is a result of muster lab run --out in another format'
}
