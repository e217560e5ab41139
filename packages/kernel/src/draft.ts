// pure: a match in the making, and which candidates may still join it
import { createCandidateCache, type Candidate, type CandidateCache } from './candidate-cache.js'
import { KEY, type Columns } from './columns.js'
import { Comparison } from './comparison.js'
import { Extent } from './extent.js'
import type { Levels } from './levels.js'
import { MatchWaits } from './match-waits.js'
import type { MatchLevels, Model, Slot } from './model.js'

export interface DraftInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  /** The facts of each ticket, by slot. */
  readonly facts: readonly (Facts | undefined)[]
  /** The players present in an opening. */
  present(opening: Slot): readonly Facts[]
  /** The most members a draft may have. */
  readonly largest: number
}

/**
 * A match in the making, checked member by member against the column rules and the pair check; teams are checked
 * elsewhere.
 *
 * Limits only loosen with the level. A rule by the youngest can only become stricter as others join. A rule by the
 * oldest or the average can loosen, so until the match is complete such a rule is checked at the highest level that a
 * candidate may still bring (`expect`); `isSound` tells whether the rule holds in the end.
 */
export class Draft<Facts = never> {
  /** The first `count` entries are the members. */
  readonly members: Int32Array
  count = 0
  /** All candidates invited since `begin`. */
  readonly cache: CandidateCache
  readonly #model: Model<Facts>
  readonly #columns: Columns
  readonly #input: DraftInput<Facts>
  readonly #comparison: Comparison
  readonly #stride: number
  /**
   * Whether all column rules compare `each` pair: then a candidate that the first member allows need not be compared
   * with that member again.
   */
  readonly #eachTwo: boolean
  /** Whether some rule is by the oldest or by the average. */
  readonly #loosens: boolean
  /** The cache index of each member. */
  readonly #candidateAt: Int32Array
  readonly #waits: MatchWaits
  readonly #extent: Extent

  constructor(input: DraftInput<Facts>) {
    const { model, columns, levels, largest } = input
    const { radius, spans, lastResortLevel } = model
    const rules = [radius, ...spans]
    this.#input = input
    this.#model = model
    this.#columns = columns
    this.#stride = columns.stride
    this.cache = createCandidateCache(columns, levels)
    this.#comparison = new Comparison(model as unknown as Model<never>, columns, this.cache)
    this.#eachTwo = lastResortLevel === Infinity && rules.every((rule) => rule === undefined || rule.by === 'each')
    this.#loosens = rules.some((rule) => rule?.by === 'oldest' || rule?.by === 'average')
    this.#waits = new MatchWaits(model, levels, this.cache, columns.stride, largest)
    this.members = new Int32Array(largest)
    this.#candidateAt = new Int32Array(largest)
    this.#extent = new Extent({
      model: model as unknown as Model<never>,
      cache: this.cache,
      comparison: this.#comparison,
      waits: this.#waits,
      members: this.#candidateAt,
      stride: columns.stride,
      largest,
    })
  }

  /** Starts a new draft with one ticket or opening. False if no match can hold it. */
  begin(slot: Slot): boolean {
    this.count = 0
    this.cache.count = 0
    this.#waits.expectAnybody()
    this.#extent.isOpening = this.#columns.size[slot] === 0
    const candidate = this.cache.put(slot)
    if (this.#eachTwo && !this.#extent.isOpening && !this.#comparison.isEven(candidate)) return false
    if (!this.#mayJoin(candidate, 0)) return false
    this.#seat(candidate)
    return true
  }

  /** Adds a ticket if it may be in a match with all members; false otherwise. */
  add(slot: Slot): boolean {
    const candidate = this.invite(slot)
    if (candidate === undefined) return false
    this.#seat(candidate)
    return true
  }

  /** Whether `add` would add the ticket. */
  admits(slot: Slot): boolean {
    if (this.invite(slot) === undefined) return false
    this.cache.count -= 1
    return true
  }

  /** Caches a ticket for `join` if `add` would add it now, undefined otherwise. Valid until the next `begin`. */
  invite(slot: Slot): Candidate | undefined {
    const candidate = this.cache.put(slot)
    const isEven = !this.#eachTwo || this.#comparison.isEven(candidate)
    if (this.#hasKey(candidate) && isEven && this.#mayJoin(candidate, 0)) return candidate
    this.cache.count -= 1
    return undefined
  }

  /** Adds an invited candidate if it may be in a match with all members; false otherwise. */
  join(candidate: Candidate): boolean {
    if (!this.#mayJoin(candidate, 1)) return false
    this.#seat(candidate)
    return true
  }

  /** Removes the last member. */
  drop(): void {
    this.count -= 1
  }

  /** Declares that only these candidates may still join. */
  expect(candidates: Int32Array, count: number): void {
    if (this.#loosens) this.#waits.expect(candidates, count, this.count)
  }

  levels(): MatchLevels {
    return this.#waits.all(this.count)
  }

  /** Whether the rules hold for the members if nobody else joins. */
  isSound(): boolean {
    return !this.#loosens || this.#extent.isSound(this.count)
  }

  /** Whether the oldest member has waited long enough for a match that is not full. */
  mayBeSmall(): boolean {
    return this.#waits.longest(this.count) >= this.#model.fillForMs
  }

  /** Whether a member or one of these candidates has waited long enough for a match that is not full. */
  mayBecomeSmall(candidates: Int32Array, count: number): boolean {
    for (let at = 0; at < count; at++)
      if (this.#waits.waitOf(candidates[at] as Candidate) >= this.#model.fillForMs) return true
    return this.mayBeSmall()
  }

  #mayMeet(candidate: Candidate, from: number): boolean {
    const pair = this.#model.checks?.pair
    if (pair === undefined) return true
    const { facts, present } = this.#input
    const { lastResortLevel } = this.#model
    const last = this.#waits.isLastResort(this.count + 1)
    const level = this.cache.level[candidate] as number
    const own = facts[this.cache.slots[candidate] as Slot] as Facts
    for (let at = from; at < this.count; at++) {
      const between = last
        ? lastResortLevel
        : Math.min(level, this.cache.level[this.#candidateAt[at] as Candidate] as number)
      if (at === 0 && this.#extent.isOpening) {
        for (const player of present(this.members[0] as Slot)) if (!pair(player, own, between)) return false
      } else if (!pair(facts[this.members[at] as Slot] as Facts, own, between)) return false
    }
    return true
  }

  #hasKey(candidate: Candidate): boolean {
    return this.count === 0 || this.cache.rows[candidate * this.#stride + KEY] === this.cache.rows[KEY]
  }

  /**
   * Whether a candidate may join. @param from members before this index have already been compared with the candidate.
   */
  #mayJoin(candidate: Candidate, from: number): boolean {
    const { count } = this
    if (count === this.members.length) return false
    if (!this.#eachTwo) {
      this.#waits.note(candidate, count)
      return this.#extent.admits(candidate, count) && this.#mayMeet(candidate, 0)
    }
    for (let at = from; at < count; at++)
      if (!this.#comparison.agree(this.#candidateAt[at] as Candidate, candidate, at === 0 && this.#extent.isOpening))
        return false
    this.#waits.note(candidate, count)
    return this.#mayMeet(candidate, from)
  }

  #seat(candidate: Candidate): void {
    this.members[this.count] = this.cache.slots[candidate] as Slot
    this.#candidateAt[this.count] = candidate
    this.count += 1
  }
}
