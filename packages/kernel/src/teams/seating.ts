// pure: provisional teams for the members of a partial match
import type { MatchLevels, Quota, Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { QuotaCounts } from '../search/quota-counts.js'

/** Number of placements tried to seat all members anew. After that, a new member is accepted without a known seat. */
const MOST_TRIES = 64

interface SeatingInput<Facts> extends PoolParts<Facts> {
  readonly counts: QuotaCounts<Facts>
  /** The partial match, including the member that is seated. */
  readonly draft: { youngest(): number; levels(): MatchLevels }
}

/**
 * Checks a partial match against the quotas and `part` as its members join and leave. `balance-teams.ts` decides the
 * final teams. Until then one possible way to seat all members is kept, and a ticket without such a way cannot be a
 * member.
 */
export class Seating<Facts> {
  readonly #input: SeatingInput<Facts>
  readonly #quotas: readonly Quota<Facts>[]
  /** For each team, the quotas that apply to it. */
  readonly #about: readonly (readonly number[])[]
  #rooms: readonly number[] = []
  #others: readonly Facts[] | undefined
  readonly #members: Slot[] = []
  readonly #teamOf: number[] = []
  #left: number[] = []
  /**
   * For each team, the number of players of each quota's kind, and the facts of all players, including present ones.
   */
  #have: number[][] = []
  #teams: Facts[][] = []
  /** Members from this index on have no known team, because finding one would take too long. */
  #unknownFrom = Infinity

  constructor(input: SeatingInput<Facts>) {
    this.#input = input
    this.#quotas = input.counts.quotas
    const numbers = [...this.#quotas.keys()]
    this.#about = input.model.teams.map((_, team) => numbers.filter((at) => this.#quotas[at]?.teams.includes(team)))
  }

  /** Starts a new match with the players present. */
  begin(rooms: readonly number[], present: readonly (readonly Facts[])[]): void {
    this.#rooms = rooms
    this.#left = [...rooms]
    this.#teams = present.map((players) => [...players])
    this.#have = present.map((players) =>
      this.#quotas.map(({ countOf }) => players.reduce((sum, facts) => sum + countOf(facts), 0)),
    )
    this.#members.length = this.#teamOf.length = 0
    this.#others = undefined
    this.#unknownFrom = Infinity
  }

  /** Declares the facts of everyone who may still join. */
  expect(others: readonly Facts[] | undefined): void {
    this.#others = others
  }

  /** Adds a member if all members can be seated, or if that could not be decided. */
  add(slot: Slot): boolean {
    this.#members.push(slot)
    this.#teamOf.push(-1)
    if (this.#unknownFrom < Infinity || this.#seatMember(this.#members.length - 1)) return true
    const seated = this.#members.length > 1 && this.#seatAnew()
    if (seated === undefined) this.#unknownFrom = this.#members.length - 1
    else if (!seated) this.#forget()
    return seated !== false
  }

  /** Removes the last member. */
  drop(): void {
    const last = this.#members.length - 1
    if (last < this.#unknownFrom) this.#removeFromTeam(last)
    else if (last === this.#unknownFrom) this.#unknownFrom = Infinity
    this.#forget()
  }

  #forget(): void {
    this.#members.pop()
    this.#teamOf.pop()
  }

  /** Returns the team of each member. Undefined if no way to seat all of them is known. */
  seats(): number[] | undefined {
    return this.#unknownFrom === Infinity ? [...this.#teamOf] : undefined
  }

  /** Seats a member while the others stay in their teams. The emptiest team comes first, so that none stays empty. */
  #seatMember(member: number): boolean {
    const size = this.#input.columns.size[this.#members[member] as Slot] as number
    for (let tried = 0; ;) {
      let [best, least] = [-1, Infinity]
      for (let team = 0; team < this.#left.length; team++) {
        const left = this.#left[team] as number
        const filled = 1 - left / Math.max(1, this.#rooms[team] as number)
        if ((tried & (1 << team)) !== 0 || filled >= least || left < size) continue
        best = team
        least = filled
      }
      if (best === -1) return false
      tried |= 1 << best
      if (this.#tryTeam(member, best)) return true
      if (this.#left.length > 31) return false
    }
  }

  /**
   * Seats all members in another way. Keeps the old seats if there is none (false) or the tries ran out (undefined).
   */
  #seatAnew(): boolean | undefined {
    const before = [...this.#teamOf]
    const last = before.length - 1
    for (let member = 0; member < last; member++) this.#removeFromTeam(member)
    let tries = MOST_TRIES
    const from = (member: number): boolean => {
      if (member > last) return true
      const size = this.#input.columns.size[this.#members[member] as Slot] as number
      for (let team = 0; team < this.#left.length; team++) {
        if ((this.#left[team] as number) < size) continue
        if (--tries < 0) return false
        if (!this.#tryTeam(member, team)) continue
        if (from(member + 1)) return true
        this.#removeFromTeam(member)
      }
      return false
    }
    if (from(0)) return true
    for (let member = 0; member < last; member++) this.#addToTeam(member, before[member] as number)
    return tries < 0 ? undefined : false
  }

  /** Seats a member in a team if the team may still become part of a match. */
  #tryTeam(member: number, team: number): boolean {
    this.#addToTeam(member, team)
    if (this.#mayBecomeMatch(team)) return true
    this.#removeFromTeam(member)
    return false
  }

  #mayBecomeMatch(team: number): boolean {
    const { draft, budget, model } = this.#input
    const have = this.#have[team] as number[]
    const left = this.#left[team] as number
    const youngest = draft.youngest()
    for (const at of this.#about[team] as readonly number[]) {
      const { least, most } = this.#quotas[at] as Quota<Facts>
      const count = have[at] as number
      if ((least[youngest] as number) - count > left || (most !== undefined && count > (most[youngest] as number)))
        return false
    }
    const part = model.checks?.part
    if (part === undefined) return true
    budget.charge(1)
    return part(this.#teams, this.#left, draft.levels(), this.#others)
  }

  #addToTeam(member: number, team: number): void {
    const slot = this.#members[member] as Slot
    this.#teamOf[member] = team
    this.#move(slot, team, 1)
    ;(this.#teams[team] as Facts[]).push(this.#input.facts[slot] as Facts)
  }

  #removeFromTeam(member: number): void {
    const [slot, team] = [this.#members[member] as Slot, this.#teamOf[member] as number]
    this.#move(slot, team, -1)
    const seated = this.#teams[team] as Facts[]
    const own = this.#input.facts[slot] as Facts
    if (seated.at(-1) === own) seated.pop()
    else seated.splice(seated.lastIndexOf(own), 1)
  }

  #move(slot: Slot, team: number, by: 1 | -1): void {
    const { columns, counts } = this.#input
    this.#left[team] = (this.#left[team] as number) - by * (columns.size[slot] as number)
    const have = this.#have[team] as number[]
    for (let at = 0; at < have.length; at++) have[at] = (have[at] as number) + by * counts.of(slot, at)
  }
}

/** True if each team has the required number of players of each quota's kind, at the level of the youngest. */
export function meetsQuotas<Facts>(
  quotas: readonly Quota<Facts>[] | undefined,
  teams: readonly (readonly Facts[])[],
  level: number,
): boolean {
  if (quotas === undefined) return true
  for (const { countOf, teams: about, least, most } of quotas)
    for (const team of about) {
      let count = 0
      for (const facts of teams[team] as readonly Facts[]) count += countOf(facts)
      if (count < (least[level] as number) || (most !== undefined && count > (most[level] as number))) return false
    }
  return true
}
