// pure: small data of a lobby or a member
import { z } from 'zod'

export type AttributeValue = string | number | boolean

/** Small named values, e.g. a map's name or a colour. Not for chat or secrets: every member sees them. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** New values by name; null removes a value. */
export type AttributeChanges = Readonly<Record<string, AttributeValue | null>>

/** Bounds (our choice): all attributes of a lobby of 64 players stay under 40 KB. */
const MOST_KEYS = 32
const LONGEST_VALUE = 256
/** UTF-16 units of names and texts together. */
const MOST_TEXT = 4096

const name = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, 'must be a name of 1 to 64 letters, digits and _.- that begins with a letter')
const value = z.union([z.string().max(LONGEST_VALUE), z.number(), z.boolean()], {
  error: `must be a text of at most ${LONGEST_VALUE} characters, a finite number, or true or false`,
})

export const AttributesSchema: z.ZodType<Attributes> = z.record(name, value).refine((attributes) => fits(attributes), {
  error: `must have at most ${MOST_KEYS} names and ${MOST_TEXT} characters`,
})
export const AttributeChangesSchema: z.ZodType<AttributeChanges> = z.record(name, z.union([value, z.null()]))

/** Merges changes into attributes; undefined if the result would be too large. */
export function merged(attributes: Attributes, changes: AttributeChanges): Attributes | undefined {
  const entries = Object.entries({ ...attributes, ...changes }).filter(
    (entry): entry is [string, AttributeValue] => entry[1] !== null,
  )
  const result = Object.fromEntries(entries)
  return fits(result) ? result : undefined
}

function fits(attributes: Attributes): boolean {
  const entries = Object.entries(attributes)
  const text = entries.reduce((sum, [key, one]) => sum + key.length + (typeof one === 'string' ? one.length : 0), 0)
  return entries.length <= MOST_KEYS && text <= MOST_TEXT
}

/** Whether the attributes have every wanted value. */
export const has = (attributes: Attributes, wanted: Attributes): boolean =>
  Object.entries(wanted).every(([key, one]) => Object.hasOwn(attributes, key) && attributes[key] === one)
