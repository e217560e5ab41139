// pure: the matches of a round that nobody has taken yet
import type { Columns } from './columns.js'
import type { Grouped, Slot } from './model.js'
import { isOlder } from './order.js'

export interface Groups {
  /** @param teams for each of the members. */
  add(opening: Slot | undefined, members: readonly Slot[], teams: readonly number[]): void
  /** Takes `count` members from `at` on as matches of so many tickets each, whose teams are told when somebody asks. */
  addUntold(members: Int32Array, at: number, count: number, tickets: number): void
  /** Those that were added one by one. */
  told(): readonly Grouped[]
  /** Has others in place of one that was. */
  replace(match: Grouped, others: readonly { readonly slots: readonly Slot[]; readonly teams: readonly number[] }[]): void
  /** All of them, and forgets them. */
  take(): Grouped[]
}

/** The teams of a match in which it is all the same who is in which. */
export type TeamsOf = (slots: readonly Slot[]) => readonly number[]

/** Told matches, and between them those that are not. */
type Batch = Grouped | { readonly start: number; readonly tickets: number; end: number }

export function createGroups(columns: Columns, teamsOf: TeamsOf): Groups {
  let slots = new Int32Array(0)
  let end = 0
  let batches: Batch[] = []

  const toldOf = (opening: Slot | undefined, members: readonly Slot[], teams: readonly number[]): Grouped => {
      const order = [...members.keys()].toSorted((one, other) => (isOlder(columns, members[one] as Slot, members[other] as Slot) ? -1 : 1))
    return { opening, slots: order.map((at) => members[at] as Slot), teams: order.map((at) => teams[at] as number) }
  }

  return {
    add: (opening, members, teams) => {
      batches.push(toldOf(opening, members, teams))
    },
    told: () => batches.filter((batch) => 'slots' in batch),
    replace: (match, others) => {
      batches.splice(batches.indexOf(match), 1, ...others.map(({ slots: members, teams }) => toldOf(undefined, members, teams)))
    },
    addUntold: (members, at, count, tickets) => {
      if (end + count > slots.length) {
        const wider = new Int32Array(Math.max(64, 2 * slots.length, end + count))
        wider.set(slots.subarray(0, end))
        slots = wider
      }
      for (let from = at; from < at + count; from++) slots[end++] = members[from] as Slot
      const last = batches.at(-1)
      if (last !== undefined && 'end' in last && last.tickets === tickets) last.end = end
      else batches.push({ start: end - count, tickets, end })
    },
    take: () => {
      const matchesOf = (batch: Batch) => ('slots' in batch ? 1 : (batch.end - batch.start) / batch.tickets)
      const groups = new Array<Grouped>(batches.reduce((sum, batch) => sum + matchesOf(batch), 0))
      let to = 0
      for (const batch of batches) {
        if ('slots' in batch) {
          groups[to++] = batch
          continue
        }
        const telling = { columns, slots, tickets: batch.tickets, teamsOf }
        for (let at = batch.start; at < batch.end; at += batch.tickets) groups[to++] = new UntoldMatch(telling, at)
      }
      slots = new Int32Array(0)
      batches = []
      end = 0
      return groups
    },
  }
}

/** What untold matches have in common. */
interface Telling {
  readonly columns: Columns
  readonly slots: Int32Array
  readonly tickets: number
  readonly teamsOf: TeamsOf
}

/**
 * A match that is put in order when somebody looks: most of the time for a million tickets would go into telling. Its
 * tickets must be in the pool until then.
 */
class UntoldMatch implements Grouped {
  private readonly telling: Telling
  private readonly start: number
  private told: Pick<Grouped, 'slots' | 'teams'> | undefined

  constructor(telling: Telling, start: number) {
    this.telling = telling
    this.start = start
    this.told = undefined
  }

  get opening(): undefined {
    return undefined
  }

  get slots(): readonly Slot[] {
    return this.tell().slots
  }

  get teams(): readonly number[] {
    return this.tell().teams
  }

  private tell() {
    if (this.told === undefined) {
      const { columns, slots, tickets, teamsOf } = this.telling
      const members = [...slots.subarray(this.start, this.start + tickets)].toSorted((one, other) => (isOlder(columns, one, other) ? -1 : 1))
      this.told = { slots: members, teams: teamsOf(members) }
    }
    return this.told
  }
}
