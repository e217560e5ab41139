import { z } from 'zod'
import type { BalanceRule } from './balance-definition.js'
import { limitCheck, limitForms } from './relaxing-schema.js'
import type { Relaxing } from './relaxing.js'
import { base, finite, missing, notNegative, text } from './schema-parts.js'

const MOST = 1e9
const deviation = z.number().positive().max(MOST)
const rating = z.strictObject({ mean: z.number().min(-MOST).max(MOST), uncertainty: deviation })

const limits = {
  difference: limitCheck(notNegative, 'rises'),
  predictedWin: limitCheck(z.number().min(0.5).max(1), 'rises'),
}

/** Fields of the form that is not the one of the rule. */
const NOT_FOR = {
  difference: ['mean', 'uncertainty', 'beta'],
  predictedWin: ['attribute', 'aggregate'],
} as const

export const balance = z
  .strictObject({
    kind: z.literal('balance'),
    ...base,
    measure: z.enum(['difference', 'predictedWin']).optional(),
    attribute: text.optional(),
    aggregate: z.enum(['avg', 'sum', 'min', 'max']).optional(),
    mean: text.optional(),
    uncertainty: text.optional(),
    beta: deviation.optional(),
    max: z
      .custom<Relaxing>((value) => value !== undefined, 'must be given')
      .meta({
        get anyOf() {
          return limitForms(notNegative)
        },
      }),
    missing: missing(z.union([finite, rating])),
  })
  .superRefine((rule, context) => {
    const { measure = 'difference' } = rule
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    for (const key of measure === 'difference' ? (['attribute'] as const) : (['mean', 'uncertainty'] as const)) {
      if (rule[key] === undefined) refuse([key], `must be given where measure is ${JSON.stringify(measure)}`)
    }
    for (const key of NOT_FOR[measure]) {
      if (rule[key] !== undefined) refuse([key], `is not used where measure is ${JSON.stringify(measure)}`)
    }
    const problem = limits[measure](rule.max)
    if (problem !== undefined) refuse(['max', ...problem.path], problem.message)
    refuseMissing(rule, refuse)
    if (rule.mean !== undefined && rule.mean === rule.uncertainty)
      refuse(['uncertainty'], 'must not be the mean itself')
  })
  .meta({ oneOf: [{ required: ['attribute'] }, { required: ['measure', 'mean', 'uncertainty'] }] })

function refuseMissing(
  { measure = 'difference', missing: given }: Pick<BalanceRule, 'measure' | 'missing'>,
  refuse: (path: PropertyKey[], message: string) => void,
): void {
  if (given === 'any' && measure === 'predictedWin') {
    refuse(['missing'], "must be 'refuse' or { value }: a player left out would make the team look weaker")
  }
  if (typeof given !== 'object') return
  if (measure === 'difference' && typeof given.value !== 'number') refuse(['missing', 'value'], 'must be a number')
  if (measure === 'predictedWin' && typeof given.value !== 'object') {
    refuse(['missing', 'value'], 'must be { mean, uncertainty } of a rating')
  }
}
