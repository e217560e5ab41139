/** An object in the document. */
export type Json = Readonly<Record<string, unknown>>

/** Returns the object without the keys whose value is undefined. */
export const present = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A reference to a named schema of the document. */
export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** A body of type JSON. */
export const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } })
