import { resources, type Shape } from '../specification/tables.js'

/** The undocumented fields of a value, and the documented ones that are present. */
export interface Fields {
  readonly undocumented: readonly string[]
  /** As `Resource.field`, and nested ones as `Resource.field.inner`. */
  readonly documented: readonly string[]
}

/** Compares an answer with its shape in the document. */
export function fieldsOf(value: unknown, shape: Shape, where: string): Fields {
  if (typeof shape === 'string') {
    return shape in resources ? fieldsOf(value, resources[shape as keyof typeof resources], shape) : nothing
  }
  if (value === null || value === undefined) return nothing
  if (Array.isArray(shape))
    return together((value as readonly unknown[]).map((item) => fieldsOf(item, shape[0] as Shape, where)))
  const known = shape as Readonly<Record<string, Shape>>
  return together(
    Object.entries(value).map(([key, inner]) => {
      const field = known[key] ?? known['*']
      const name = `${where}.${known[key] === undefined ? '*' : key}`
      if (field === undefined) return { undocumented: [`${where}.${key}`], documented: [] }
      // null stands for a field without a value, so it does not count as present.
      return inner === null
        ? nothing
        : together([{ undocumented: [], documented: [name] }, fieldsOf(inner, field, name)])
    }),
  )
}

/** All fields of a shape, with the same names. */
export function fieldsIn(shape: Shape, where: string): string[] {
  if (typeof shape === 'string')
    return shape in resources ? fieldsIn(resources[shape as keyof typeof resources], shape) : []
  if (Array.isArray(shape)) return fieldsIn(shape[0] as Shape, where)
  return Object.entries(shape).flatMap(([key, inner]) => [`${where}.${key}`, ...fieldsIn(inner, `${where}.${key}`)])
}

const nothing: Fields = { undocumented: [], documented: [] }

const together = (all: readonly Fields[]): Fields => ({
  undocumented: all.flatMap(({ undocumented }) => undocumented),
  documented: all.flatMap(({ documented }) => documented),
})
