import { queueJsonSchema } from '@muster/matchmaker'
import { z } from 'zod'
import { fileSchema } from './schema/file.js'

type Json = Readonly<Record<string, unknown>>

/** What editors know best. Nothing in the schema is newer, and a reference may lead anywhere in the document. */
const DRAFT = 'http://json-schema.org/draft-07/schema#'

/**
 * The configuration as JSON Schema, for editors: what `muster.schema.json` of this package holds,
 * there also with texts about the fields of queues. `muster check` knows more than it can say, e.g. of two queues of
 * one name.
 */
export function configJsonSchema(): Json {
  const { $schema: _, properties, ...file } = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' })
  const { $schema: __, $defs, ...queue } = queueJsonSchema()
  const queues = { ...(properties?.['queues'] as Json), items: queue }
  return {
    $schema: DRAFT,
    title: 'muster.yaml',
    ...file,
    properties: { ...properties, queues },
    $defs: withoutFunctions($defs),
  }
}

/** The rules without those that are functions, which no file can hold. */
function withoutFunctions(definitions: unknown): Json {
  const { rule, ...others } = definitions as { readonly rule: { readonly oneOf: readonly Json[] } }
  const isFunction = ({ properties }: Json) => (properties as { readonly kind: Json }).kind['const'] === 'custom'
  return { rule: { ...rule, oneOf: rule.oneOf.filter((kind) => !isFunction(kind)) }, ...others }
}
