import { resources, type Primitive, type Shape } from './tables.js'

/** The key of the entry in a sample whose keys are arbitrary. */
export const SOME_KEY = 'game'

/** Returns a response in which every documented field has a value of its documented type. */
export function sample(shape: Shape): unknown {
  if (typeof shape === 'string') {
    return shape in resources ? sample(resources[shape as keyof typeof resources]) : values[shape as Primitive]
  }
  if (Array.isArray(shape)) return [sample(shape[0] as Shape)]
  return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key === '*' ? SOME_KEY : key, sample(value)]))
}

const values: Readonly<Record<Primitive, unknown>> = {
  string: 'text',
  boolean: true,
  integer: 7,
  number: 0.5,
  'number or string': '12.5',
  'string or null': null,
  'time A': '2026-01-31 08:15:30.250000',
  'time B': '2026-01-31T08:15:30.250Z',
  anything: { any: ['thing'] },
}

/** Returns a value of another type. */
export const ofAnotherType = (value: unknown) => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? 'text' : { not: 'this' }
}

export type Path = readonly (string | number)[]

/** Returns the paths of all values inside a value. */
export function pathsIn(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const entries: (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return entries.flatMap(([key, inner]) => [[key], ...pathsIn(inner).map((path) => [key, ...path])])
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value)
}

/** Returns a copy with another value at one path. */
export function withValueAt<T>(value: T, path: Path, replacement: unknown): T {
  const copy = structuredClone(value)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>
  parent[path.at(-1) as string | number] = replacement
  return copy
}
