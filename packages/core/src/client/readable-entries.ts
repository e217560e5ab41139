import type { z } from 'zod'
import { validate, type Fault } from '../validation/validate.js'

/** An answer without the list entries that cannot be read. */
export interface ReadableEntries {
  readonly json: Readonly<Record<string, unknown>>
  /** The entries left out and why, e.g. `data.3.request_id`: `is missing`. */
  readonly leftOut: readonly Pick<Fault, 'field' | 'wrong'>[]
}

/**
 * The readable part of an answer that does not fit its schema: one list entry that lacks a required field, such as an
 * id, must not hide all others. Undefined if anything else is wrong, or if no entry of a list can be read.
 */
export function readableEntries(output: z.ZodType, json: unknown): ReadableEntries | undefined {
  const { def } = (output as unknown as z.core.$ZodTypes)._zod
  if (def.type !== 'object' || typeof json !== 'object' || json === null) return undefined
  const kept: Record<string, unknown> = { ...json }
  const leftOut: Pick<Fault, 'field' | 'wrong'>[] = []
  for (const [key, field] of Object.entries(def.shape)) {
    const list = kept[key]
    const { def: wanted } = (field as z.core.$ZodTypes)._zod
    if (wanted.type !== 'array' || !Array.isArray(list)) continue
    const faults = list.map((entry) => validate(wanted.element as z.ZodType, entry).fault)
    const readable = list.filter((_, index) => faults[index] === undefined)
    if (readable.length === 0) continue
    kept[key] = readable
    faults.forEach((fault, index) => {
      if (fault !== undefined) leftOut.push({ field: [key, index, ...fault.path].join('.'), wrong: fault.wrong })
    })
  }
  return leftOut.length === 0 ? undefined : { json: kept, leftOut }
}
