// pure: whether tickets that the columns allow together may play
import { arrange, byPlan } from './arrange.js'
import type { Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Model, Slot } from './model.js'
import type { Packing, Plan } from './packing.js'

/** The team of each of the first `count` members, who make a full match and keep the rules of the columns; undefined if they may not play. */
export type Accept = (members: Int32Array, count: number) => readonly number[] | undefined

export interface AcceptInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly packing: Packing
  readonly draft: Draft
  readonly facts: readonly (Facts | undefined)[]
}

export function createAccept<Facts>({ model, columns, packing, draft, facts }: AcceptInput<Facts>): Accept {
  const { checks, teams } = model
  const nobody = teams.map(() => 0)
  const noFacts = teams.map((): Facts[] => [])
  const rooms = teams.map(({ max }) => max)

  const planned = (members: Int32Array, count: number): readonly number[] | undefined => {
    let packed = 0
    const sizes: number[] = []
    for (let at = 0; at < count; at++) {
      const size = columns.size[members[at] as Slot] as number
      sizes.push(size)
      packed = packing.add(packed, size)
    }
    return byPlan(sizes, packing.plan(packed, 0) as Plan)
  }

  return (members, count) => {
    const first = planned(members, count)
    if (checks === undefined || first === undefined) return first
    for (let at = 0; at < count; at++) {
      const slot = members[at] as Slot
      if (!(at === 0 ? draft.begin(slot) : draft.add(slot))) return undefined
    }
    const slots = [...members.subarray(0, count)]
    const sizes = slots.map((slot) => columns.size[slot] as number)
    const lineup = { sizes, facts: slots.map((slot) => facts[slot] as Facts), present: noFacts, rooms, least: nobody, levels: draft.levels() }
    return arrange(checks, lineup, first)
  }
}
