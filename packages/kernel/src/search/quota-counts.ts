// pure: how many players of each quota's kind each ticket has, and which tickets have some
import { grown } from '../data/columns.js'
import type { Model, Quota, Slot } from '../data/model.js'

/** Counts players by quota, and lists the tickets with players of kinds that matches need. */
export class QuotaCounts<Facts> {
  readonly quotas: readonly Quota<Facts>[]
  /** The quotas whose players are left to other matches once a match has enough. */
  readonly spared: readonly number[]
  /** For each quota, the waiting tickets with players of its kind. Undefined if no match needs any. */
  readonly holders: readonly (Set<Slot> | undefined)[]
  #counts = new Uint16Array(0)
  /** For each quota, the number of players of all waiting tickets. */
  readonly #totals: number[]

  constructor({ checks }: Model<Facts>) {
    this.quotas = checks?.quotas ?? []
    this.spared = this.quotas.flatMap(({ isSpared }, at) => (isSpared === true ? [at] : []))
    this.holders = this.quotas.map(({ least }) => (least.some((count) => count > 0) ? new Set<Slot>() : undefined))
    this.#totals = this.quotas.map(() => 0)
  }

  /** Counts a new ticket's players. */
  add(slot: Slot, facts: Facts): void {
    const many = this.quotas.length
    if (many === 0) return
    if ((slot + 1) * many > this.#counts.length) this.#counts = grown(this.#counts, Math.max(64, 2 * (slot + 1)) * many)
    for (const [at, { countOf }] of this.quotas.entries()) this.#counts[slot * many + at] = countOf(facts)
    this.insert(slot)
  }

  /** Restores a removed ticket. */
  insert(slot: Slot): void {
    for (let at = 0; at < this.quotas.length; at++) {
      const count = this.of(slot, at)
      const holders = this.holders[at]
      if (count === 0 || holders === undefined || holders.has(slot)) continue
      holders.add(slot)
      this.#totals[at] = (this.#totals[at] as number) + count
    }
  }

  remove(slot: Slot): void {
    for (let at = 0; at < this.quotas.length; at++)
      if (this.holders[at]?.delete(slot) === true) this.#totals[at] = (this.#totals[at] as number) - this.of(slot, at)
  }

  /** Returns the number of a ticket's players that are of the quota's kind. */
  of(slot: Slot, quota: number): number {
    return this.#counts[slot * this.quotas.length + quota] as number
  }

  /** Returns the minimum number of players of the kind in any match at a level, all teams together. */
  needed(quota: number, level: number): number {
    const { least, teams } = this.quotas[quota] as Quota<Facts>
    return (least[level] as number) * teams.length
  }

  /** Returns the maximum number of matches at a level that the players of all kinds allow. */
  mostMatches(level: number): number {
    let most = Infinity
    for (let quota = 0; quota < this.#totals.length; quota++) {
      const needed = this.needed(quota, level)
      if (needed > 0) most = Math.min(most, Math.floor((this.#totals[quota] as number) / needed))
    }
    return most
  }
}
