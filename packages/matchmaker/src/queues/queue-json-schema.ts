import { z } from 'zod'
import { queueSchema } from './queue.js'

/**
 * The definition of a queue as JSON Schema (draft 2020-12), for editors: names, types and bounds. What parts of a
 * queue must have in common it cannot say; `checkQueue` does. The rules are under `$defs/rule`, to which inner rules
 * refer, so a document that holds this one has the same `$defs`.
 */
export const queueJsonSchema = (): Record<string, unknown> =>
  z.toJSONSchema(queueSchema, { io: 'input', unrepresentable: 'any' })
