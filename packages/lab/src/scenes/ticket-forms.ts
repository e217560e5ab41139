// pure: what a ticket has, from what is said of it, of its scene and of its file
import type { Attributes } from '@muster/matchmaker'
import type { PlayerForm, TicketForm } from './scene-schema.js'

/** What may be said of a ticket or of its players, near it or further away. */
export type Form = Partial<TicketForm>

/** Fields of which the nearest counts alone: who has coordinates has no city from the defaults. */
const TOGETHER: readonly (readonly (keyof TicketForm)[])[] = [
  ['queue', 'queues'],
  ['city', 'coordinates', 'ip'],
  ['party', 'players'],
]

/** Two fields that say the same differently in one place. */
export function contradictionIn(form: Form): readonly [string, string] | undefined {
  for (const fields of TOGETHER) {
    const [one, other] = fields.filter((field) => form[field] !== undefined)
    if (one !== undefined && other !== undefined) return [one, other]
  }
  return undefined
}

/** What is said near a ticket, over what is said further away. */
export function layered<Far extends Form, Near extends Form | PlayerForm>(far: Far, near: Near): Far & Near {
  const hidden: readonly string[] = TOGETHER.filter((fields) =>
    fields.some((field) => (near as Form)[field] !== undefined),
  ).flat()
  const kept = Object.fromEntries(Object.entries(far).filter(([name]) => !hidden.includes(name))) as Far
  const attributes = { ...far.attributes, ...near.attributes }
  return { ...kept, ...near, attributes, short: { ...far.short, ...near.short } }
}

/**
 * The attributes of a form.
 * @param share of the way from the first copy of the ticket to the last: 0 to 1.
 */
export function attributesIn({ attributes, short = {} }: Form, share: number): Attributes {
  const plain = Object.entries(short).map(([name, value]) => [name, isSpread(value) ? between(value, share) : value])
  return { ...attributes, ...(Object.fromEntries(plain) as Attributes) }
}

interface Spread {
  readonly from: number
  readonly to: number
}

const isSpread = (value: Attributes[string] | Spread): value is Spread =>
  typeof value === 'object' && !Array.isArray(value)

const between = ({ from, to }: Spread, share: number) => Math.round((from + (to - from) * share) * 1e6) / 1e6
