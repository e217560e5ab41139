// pure: converts keys to snake case, which all of this API uses

type SnakeCase<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Key

/** The type of data with its keys in snake case. */
export type InSnakeCase<T> = T extends readonly (infer Item)[]
  ? readonly InSnakeCase<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: InSnakeCase<T[Key]> }
    : T

/**
 * Converts the keys of data to snake case. Keys that users choose, such as attribute names, must not be in the data.
 */
export const inSnakeCase = <T>(data: T): InSnakeCase<T> => rewritten(data) as InSnakeCase<T>

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), rewritten(part)]))
}

const snakeCase = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_')
