import { validate } from '@muster/core/validation'
import { z } from 'zod'
import type { TeamDefinition } from './definition.js'
import { jsonOf, relaxing } from './relaxing-schema.js'
import { LARGEST_MATCH } from './team-shapes.js'

const players = z.int().min(1).max(LARGEST_MATCH)

const least = z.int().min(0).max(LARGEST_MATCH)
const bounds = z.strictObject({ min: relaxing(least, 'falls'), max: players })

/** The schema of a kind of team, which fills in its count. */
export const teamSchema: z.ZodType<TeamDefinition> = z.strictObject({
  name: z.string().min(1).max(64),
  count: players.default(1),
  size: z
    .custom<TeamDefinition['size']>()
    .superRefine((given, context) => {
      const schema: z.ZodType = typeof given === 'object' ? bounds : players
      const { fault } = validate(schema, given)
      if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.wrong })
    })
    .meta({
      get anyOf() {
        return [players, bounds].map(jsonOf)
      },
    }),
})
