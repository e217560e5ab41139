// pure: why a ticket waits, as clients of the ticket API see it
import type { TicketExplanation } from '../commands/matchmaker.js'

/** Keys as everywhere in this API; in the values there are none of anyone's choice. */
type SnakeCase<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Key
type InSnakeCase<T> = T extends readonly (infer Item)[]
  ? readonly InSnakeCase<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: InSnakeCase<T[Key]> }
    : T

/** JSON leaves out what is undefined. */
export type ExplanationView = InSnakeCase<Omit<TicketExplanation, 'waitingFor'> & Partial<Pick<TicketExplanation, 'waitingFor'>>>

/** The matchmaker's explanation. */
export const explanationView = (explanation: TicketExplanation): ExplanationView => inSnakeCase(explanation) as ExplanationView

function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), inSnakeCase(part)]))
}

const snakeCase = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
