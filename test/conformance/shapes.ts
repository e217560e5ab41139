import { resources, type Shape } from '../specification/tables.js'

/** The undocumented fields of a value, and its documented fields that are present. */
export interface Fields {
  readonly undocumented: readonly string[]
  /** Names such as `Resource.field`, or `Resource.field.inner` for nested fields. */
  readonly documented: readonly string[]
}

/** Compares a response with its shape in the document. */
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
      // null means that the field is absent.
      return inner === null
        ? nothing
        : together([{ undocumented: [], documented: [name] }, fieldsOf(inner, field, name)])
    }),
  )
}

/** Returns all field names of a shape. */
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
