import { z } from 'zod'
import { names } from '../api/fields.js'

/**
 * The name of a schema's type; undefined for one that has none of its own, such as the input of an operation that takes
 * nothing.
 */
export const nameOf = (schema: z.ZodType): string | undefined => names.get(schema)?.id

/** The JSON Schemas of all named schemas, which refer to one another as components of an OpenAPI document. */
export const namedJsonSchemas = (): Readonly<Record<string, object>> =>
  z.toJSONSchema(names, { uri: (id) => `#/components/schemas/${id}` }).schemas
