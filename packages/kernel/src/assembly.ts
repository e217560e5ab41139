// pure: puts candidates together to a match
import { arrange } from './arrange.js'
import type { Candidate } from './candidate-cache.js'
import type { CandidateList } from './candidate-list.js'
import { planned } from './closing.js'
import type { Effort, Pausable } from './effort.js'
import type { Lacking } from './lacking.js'
import { Members } from './members.js'
import type { Packed, Packing } from './packing.js'
import type { Found, SearchInput, Vacancy } from './search-terms.js'

/**
 * The match that a search is making: tries sets of candidates until one of them may play. It may pause between two
 * tries. Tickets can leave the pool meanwhile: they are dropped from the match, and no longer join it.
 */
export class Assembly<Facts> {
  /** The members of the match in the making. */
  readonly members: Members<Facts>
  /** The packing of the teams, or of the room that an opening has. */
  packing: Packing
  /** The match that was made. */
  found: Found | undefined
  readonly #input: SearchInput<Facts>
  readonly #effort: Effort
  readonly #list: CandidateList
  readonly #mayEverBeSmall: boolean
  #opening: Vacancy<Facts> | undefined
  /** Members that were chosen, beyond those that the match began with. */
  #depth = 0
  // The path to the current members, for each of them and the first: the parties so far, the next candidate to try, and
  // the players of the candidates from there on.
  #packedAt: Packed[] = []
  #nextAt: number[] = []
  #behindAt: number[] = []

  constructor(input: SearchInput<Facts>, list: CandidateList, lacking: Lacking<Facts> | undefined) {
    this.#input = input
    this.#effort = input.effort
    this.#list = list
    this.members = new Members(input, list, lacking)
    this.#mayEverBeSmall = input.model.teams.some(({ max, min }) => (min.at(-1) as number) < max)
    this.packing = input.packing
  }

  /** Whether any match may be made of fewer players than a full one. */
  get mayEverBeSmall(): boolean {
    return this.#opening !== undefined || this.#mayEverBeSmall
  }

  /** Starts a new match, or new players for an opening. */
  begin(vacancy: Vacancy<Facts> | undefined): void {
    this.#opening = vacancy
    this.packing = vacancy?.packing ?? this.#input.packing
    this.found = undefined
    this.members.begin(vacancy)
  }

  /** Whether a match of these candidates may be smaller than a full one. */
  mayBecomeSmall(): boolean {
    const { candidates, count } = this.#list
    return (
      this.#opening !== undefined ||
      (this.#mayEverBeSmall && this.#input.draft.mayBecomeSmall(candidates, count))
    )
  }

  /** Tries full matches, those of the first candidates first. Gives up when the effort is spent. */
  makeFull(packed: Packed): Pausable<boolean> {
    return this.#tryAll(packed, true, false)
  }

  /**
   * Makes a match that need not be full: adds as many candidates as go together, the first ones first, then drops
   * members from the end until the rest may play. If that fails, tries every set of candidates.
   * @param alone whether the members so far may be a match.
   */
  *makeSmall(packed: Packed, alone: boolean): Pausable<boolean> {
    const { candidates, count } = this.#list
    const { sizes } = this.#input.draft.cache
    const path = [packed]
    this.#effort.grant(count)
    for (let at = 0; at < count; at++) {
      if (this.#effort.isPauseDue()) yield this.#effort.pause()
      const candidate = candidates[at] as Candidate
      const size = sizes[candidate] as number
      const next = this.packing.add(path.at(-1) as Packed, size)
      if (next === -1 || !this.#effort.take()) continue
      if (this.members.join(candidate, size, this.packing.players - this.packing.count(next))) path.push(next)
    }
    const greedy = path.length
    for (let last = path.pop(); last !== undefined; last = path.pop()) {
      if ((alone || path.length > 0) && this.#mayBeSmall() && (yield* this.close(last))) return true
      if (path.length > 0) this.members.leave()
    }
    return greedy > 1 && (yield* this.#tryAll(packed, false, alone))
  }

  /**
   * Tries the sets of candidates, sets with the first candidates first. If a match need not be full, each set is tried
   * after the larger ones that hold it.
   * @param alone whether the members so far may be a match.
   */
  *#tryAll(packed: Packed, full: boolean, alone: boolean): Pausable<boolean> {
    this.#depth = 0
    this.#stepTo(0, packed, 0, this.#list.players)
    for (;;) {
      const isMatch = this.#advance(full, alone)
      if (isMatch) {
        if (yield* this.close(this.#packedAt[this.#depth] as Packed)) return true
        this.#goBack()
      }
      if (this.#depth < 0) return false
      if (this.#effort.isPauseDue()) yield this.#effort.pause()
    }
  }

  /** Tries the next candidates, until the members may be a match, or all was tried (depth −1), or a pause is due. */
  #advance(full: boolean, alone: boolean): boolean {
    const { candidates } = this.#list
    const { sizes } = this.#input.draft.cache
    const { packing } = this
    const effort = this.#effort
    do {
      const depth = this.#depth
      const before = this.#packedAt[depth] as Packed
      const missing = packing.players - packing.count(before)
      if (this.members.isBroken() || !this.#mayGrow(depth, missing, full)) {
        if (full ? missing === 0 : (alone || depth > 0) && this.#mayBeSmall()) return true
        this.#goBack()
        continue
      }
      const at = this.#nextAt[depth] as number
      const candidate = candidates[at] as Candidate
      const size = sizes[candidate] as number
      const behind = (this.#behindAt[depth] as number) - size
      this.#nextAt[depth] = at + 1
      this.#behindAt[depth] = behind
      const next = packing.add(before, size)
      if (next === -1) continue
      if (!effort.take()) {
        while (this.#depth >= 0) this.#goBack()
        return false
      }
      if (!this.members.join(candidate, size, missing - size)) continue
      this.#depth = depth + 1
      this.#stepTo(depth + 1, next, at + 1, behind)
    } while (this.#depth >= 0 && !effort.isPauseDue())
    return false
  }

  #goBack(): void {
    if (this.#depth > 0) this.members.leave()
    this.#depth -= 1
  }

  #stepTo(depth: number, packed: Packed, next: number, behind: number): void {
    this.#packedAt[depth] = packed
    this.#nextAt[depth] = next
    this.#behindAt[depth] = behind
  }

  /** Whether there is another candidate to try with the members so far. */
  #mayGrow(depth: number, missing: number, full: boolean): boolean {
    const next = this.#nextAt[depth] as number
    if (missing === 0 || next >= this.#list.count) return false
    return !full || ((this.#behindAt[depth] as number) >= missing && this.members.canBeHad(next))
  }

  #mayBeSmall(): boolean {
    return this.#opening !== undefined || (this.#mayEverBeSmall && this.#input.draft.mayBeSmall())
  }

  /** Makes a match of the members, if some arrangement of teams may play. */
  *close(packed: Packed): Pausable<boolean> {
    if (this.members.isBroken() || !this.#input.draft.isSound()) return false
    const ground = { packing: this.packing, packed, opening: this.#opening, seats: this.members.seats() }
    const plan = planned(this.#input, ground)
    if (plan === undefined) return false
    const { checks } = this.#input.model
    const teams = checks === undefined ? plan.teams : yield* arrange(checks, plan.lineup, plan.teams, this.#effort)
    if (teams === undefined || this.members.isBroken()) return false
    this.found = { slots: plan.slots, teams }
    return true
  }
}
