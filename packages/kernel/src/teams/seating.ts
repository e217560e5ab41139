// pure: provisional teams for the members of a partial match
import type { Budget } from '../data/budget.js'
import type { Checks, MatchLevels, Quota } from '../data/model.js'

/** Placements tried to seat all members anew; after that, a new member is accepted without a known seat. */
const MOST_TRIES = 64

interface Member<Facts> {
  readonly size: number
  readonly facts: Facts
  /** Players of each quota's kind. */
  readonly counts: ArrayLike<number>
  team: number
}

/**
 * Checks a partial match against the quotas and `part` as its members come and go. The final teams are decided in the
 * end (`balance-teams.ts`): until then one possible way to seat all members is kept, and a ticket for which there is
 * none cannot be a member.
 */
export class Seating<Facts> {
  readonly #quotas: readonly Quota<Facts>[]
  /** For each quota and team whether it is about that team. */
  readonly #isAbout: readonly (readonly boolean[])[]
  readonly #part: Checks<Facts>['part']
  #rooms: readonly number[] = []
  #others: readonly Facts[] | undefined
  #members: Member<Facts>[] = []
  /** The facts of the players in each team, present ones included. */
  #teams: Facts[][] = []
  #left: number[] = []
  /** For each team and quota the players of its kind. */
  #have: number[][] = []
  /** Members from this index on have no known team, because finding one would take too long. */
  #unknownFrom = Infinity

  constructor(checks: Checks<Facts> | undefined, teams: number) {
    this.#quotas = checks?.quotas ?? []
    this.#part = checks?.part
    this.#isAbout = this.#quotas.map((quota) => Array.from({ length: teams }, (_, team) => quota.teams.includes(team)))
  }

  /** Starts a new match with the players present. */
  begin(rooms: readonly number[], present: readonly (readonly Facts[])[]): void {
    this.#rooms = rooms
    this.#left = [...rooms]
    this.#teams = rooms.map((_, team) => [...(present[team] ?? [])])
    this.#have = this.#teams.map((team) =>
      this.#quotas.map(({ countOf }) => team.reduce((sum, facts) => sum + countOf(facts), 0)),
    )
    this.#members = []
    this.#others = undefined
    this.#unknownFrom = Infinity
  }

  /** Declares the facts of everyone who may still join. */
  expect(others: readonly Facts[] | undefined): void {
    this.#others = others
  }

  /** Adds a member if all members can be seated, or if that could not be decided. */
  add(size: number, facts: Facts, counts: ArrayLike<number>, levels: MatchLevels, budget: Budget): boolean {
    const member = { size, facts, counts, team: -1 }
    if (this.#unknownFrom === Infinity && !this.#sitsSomewhere(member, levels, budget)) {
      const before = this.#members.map(({ team }) => team)
      if (before.length === 0) return false
      const seated = this.#seatAnew([...this.#members, member], levels, budget)
      if (seated !== true) {
        for (const [at, one] of this.#members.entries()) this.#sit(one, before[at] as number)
        if (seated === false) return false
        this.#unknownFrom = this.#members.length
      }
    }
    this.#members.push(member)
    return true
  }

  /** Removes the last member. */
  drop(): void {
    const member = this.#members.pop()
    if (member === undefined) return
    if (this.#members.length < this.#unknownFrom) this.#stand(member)
    else if (this.#members.length === this.#unknownFrom) this.#unknownFrom = Infinity
  }

  /** The team of each member; undefined if no way to seat all of them is known. */
  seats(): number[] | undefined {
    return this.#unknownFrom === Infinity ? this.#members.map(({ team }) => team) : undefined
  }

  /** Seats a member while the others stay in their teams. The emptiest team comes first, so that none stays empty. */
  #sitsSomewhere(member: Member<Facts>, levels: MatchLevels, budget: Budget): boolean {
    let tried = 0
    for (;;) {
      let [best, least] = [-1, Infinity]
      for (let team = 0; team < this.#left.length; team++) {
        const filled = 1 - (this.#left[team] as number) / Math.max(1, this.#rooms[team] as number)
        if ((tried & (1 << team)) === 0 && filled < least && (this.#left[team] as number) >= member.size) {
          best = team
          least = filled
        }
      }
      if (best === -1) return false
      tried |= 1 << best
      this.#sit(member, best)
      if (this.#mayBecomeMatch(best, levels, budget)) return true
      this.#stand(member)
      if (this.#left.length > 31) return false
    }
  }

  /** Seats all members in another way. False if there is none, undefined if the tries ran out. */
  #seatAnew(members: readonly Member<Facts>[], levels: MatchLevels, budget: Budget): boolean | undefined {
    for (const member of this.#members) this.#stand(member)
    let tries = MOST_TRIES
    const from = (at: number): boolean => {
      const member = members[at]
      if (member === undefined) return true
      for (let team = 0; team < this.#left.length; team++) {
        if ((this.#left[team] as number) < member.size) continue
        if (--tries < 0) return false
        this.#sit(member, team)
        if (this.#mayBecomeMatch(team, levels, budget) && from(at + 1)) return true
        this.#stand(member)
      }
      return false
    }
    return from(0) || (tries < 0 ? undefined : false)
  }

  #mayBecomeMatch(team: number, levels: MatchLevels, budget: Budget): boolean {
    const { youngest } = levels
    const have = this.#have[team] as number[]
    const left = this.#left[team] as number
    for (let at = 0; at < this.#quotas.length; at++) {
      if (this.#isAbout[at]?.[team] !== true) continue
      const { least, most } = this.#quotas[at] as Quota<Facts>
      const count = have[at] as number
      if ((least[youngest] as number) - count > left || (most !== undefined && count > (most[youngest] as number)))
        return false
    }
    if (this.#part === undefined) return true
    budget.charge(1)
    return this.#part(this.#teams, this.#left, levels, this.#others)
  }

  #sit(member: Member<Facts>, team: number): void {
    member.team = team
    this.#left[team] = (this.#left[team] as number) - member.size
    const have = this.#have[team] as number[]
    for (let at = 0; at < have.length; at++) have[at] = (have[at] as number) + (member.counts[at] as number)
    ;(this.#teams[team] as Facts[]).push(member.facts)
  }

  #stand(member: Member<Facts>): void {
    const { team } = member
    this.#left[team] = (this.#left[team] as number) + member.size
    const have = this.#have[team] as number[]
    for (let at = 0; at < have.length; at++) have[at] = (have[at] as number) - (member.counts[at] as number)
    const seated = this.#teams[team] as Facts[]
    if (seated.at(-1) === member.facts) seated.pop()
    else seated.splice(seated.lastIndexOf(member.facts), 1)
  }
}

/** Whether teams have as many players of each quota's kind as they must, at the level of the youngest. */
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
