import { z } from 'zod'
import type { CooldownDefinition, CooldownTerms, Offence } from './cooldown.js'
import { waitMs } from './rules/relaxing-schema.js'

const USUAL = ['declined', 'not-accepted', 'left'] as const satisfies readonly Offence[]
const OFFENCES = [...USUAL, 'left-running'] as const satisfies readonly Offence[]

export const cooldownSchema: z.ZodType<CooldownTerms> = z
  .strictObject({
    name: z.string().min(1).max(64).optional(),
    firstMs: waitMs.positive().default(30_000),
    factor: z.number().min(1).max(100).default(2),
    maxMs: waitMs.positive().optional(),
    forgiveAfterMs: waitMs.positive().default(3_600_000),
    for: z.array(z.enum(OFFENCES)).default([...USUAL]),
  })
  .transform(({ name, maxMs, ...terms }, context): CooldownTerms => {
    const most = maxMs ?? Math.max(900_000, terms.firstMs)
    if (most < terms.firstMs)
      context.addIssue({ code: 'custom', path: ['maxMs'], message: `must not be less than firstMs, ${terms.firstMs}` })
    return { name, ...terms, maxMs: most }
  })

/** The cooldown of a queue that asks its players to accept, and says nothing of a cooldown. */
export const cooldownOfAcceptance: CooldownTerms = cooldownSchema.parse({
  for: ['declined', 'not-accepted'],
} satisfies CooldownDefinition)
