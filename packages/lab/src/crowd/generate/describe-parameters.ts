import type { z } from 'zod'
import { parametersSchema } from './parameters.js'

/** A parameter of a crowd. */
export interface ParameterDescription {
  /** E.g. `patience.medianMs`. */
  readonly name: string
  readonly default: unknown
  /** What it is, and where its default comes from. */
  readonly description: string
}

/** All parameters of a crowd, in the order of the schema: for `--show-parameters` and the documentation. */
export const describeParameters = (): readonly ParameterDescription[] =>
  ofShape(parametersSchema.shape, parametersSchema.parse({}), '')

function ofShape(shape: Readonly<Record<string, z.ZodType>>, defaults: object, path: string): ParameterDescription[] {
  return Object.entries(shape).flatMap(([key, schema]) => {
    const value = (defaults as Readonly<Record<string, unknown>>)[key]
    const name = `${path}${key}`
    if (schema.description !== undefined) return [{ name, default: value, description: schema.description }]
    const inner = (schema as z.ZodPrefault<z.ZodObject>).unwrap()
    return ofShape(inner.shape, value as object, `${name}.`)
  })
}
