import { z } from 'zod'
import { names } from '../api/fields.js'

/** The name of a schema's type; undefined for a schema without a type name, such as the empty input of an operation. */
export const nameOf = (schema: z.ZodType): string | undefined => names.get(schema)?.id

/** The JSON Schemas of all named schemas, which refer to each other as components of an OpenAPI document. */
export const namedJsonSchemas = (): Readonly<Record<string, object>> =>
  z.toJSONSchema(names, { uri: (id) => `#/components/schemas/${id}` }).schemas
