// pure: provisional teams for the members of a match in the making
import type { Effort } from './effort.js'
import type { Checks, MatchLevels } from './model.js'

/** Placements tried to seat all members anew; after that, a new member is accepted without a known seat. */
const MOST_TRIES = 64

interface Member<Facts> {
  readonly size: number
  readonly facts: Facts
  team: number
}

/**
 * Checks a match against `part` as its members come and go. The final teams are settled in the end (see `arrange.ts`):
 * until then one possible way to seat all members is kept, and a ticket for which there is none cannot be a member.
 */
export class Seating<Facts> {
  readonly #part: NonNullable<Checks<Facts>['part']>
  #rooms: readonly number[] = []
  #others: readonly Facts[] | undefined
  #members: Member<Facts>[] = []
  /** The facts of the players in each team, present ones included. */
  #teams: Facts[][] = []
  #left: number[] = []
  /** Members from this index on have no known team, because finding one would take too long. */
  #unknownFrom = Infinity

  constructor(part: NonNullable<Checks<Facts>['part']>) {
    this.#part = part
  }

  /** Starts a new match with the players present. */
  begin(rooms: readonly number[], present: readonly (readonly Facts[])[]): void {
    this.#rooms = rooms
    this.#left = [...rooms]
    this.#teams = rooms.map((_, team) => [...(present[team] ?? [])])
    this.#members = []
    this.#others = undefined
    this.#unknownFrom = Infinity
  }

  /** Declares the facts of everyone who may still join. */
  expect(others: readonly Facts[] | undefined): void {
    this.#others = others
  }

  /** Adds a member if all members can be seated, or if that could not be decided. */
  add(size: number, facts: Facts, levels: MatchLevels, effort: Effort): boolean {
    const member = { size, facts, team: -1 }
    if (this.#unknownFrom === Infinity && !this.#sitsSomewhere(member, levels, effort)) {
      const before = this.#members.map(({ team }) => team)
      if (before.length === 0) return false
      const seated = this.#seatAnew([...this.#members, member], levels, effort)
      if (seated === false) {
        this.#restore(before)
        return false
      }
      if (seated === undefined) {
        this.#restore(before)
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
    if (this.#members.length >= this.#unknownFrom) {
      if (this.#members.length === this.#unknownFrom) this.#unknownFrom = Infinity
      return
    }
    this.#stand(member)
  }

  /** The team of each member; undefined if no way to seat all of them is known. */
  seats(): number[] | undefined {
    return this.#unknownFrom === Infinity ? this.#members.map(({ team }) => team) : undefined
  }

  /**
   * Seats a member while the others stay in their teams. The emptiest team comes first, so that no team is left without
   * players.
   */
  #sitsSomewhere(member: Member<Facts>, levels: MatchLevels, effort: Effort): boolean {
    for (const team of this.#byRoom()) {
      if ((this.#left[team] as number) < member.size) continue
      this.#sit(member, team)
      effort.charge(1)
      if (this.#part(this.#teams, this.#left, levels, this.#others)) return true
      this.#stand(member)
    }
    return false
  }

  /** Seats all members in another way. False if there is none, undefined if the tries ran out. */
  #seatAnew(members: readonly Member<Facts>[], levels: MatchLevels, effort: Effort): boolean | undefined {
    for (const member of this.#members) this.#stand(member)
    let tries = MOST_TRIES
    const from = (at: number): boolean => {
      const member = members[at]
      if (member === undefined) return true
      for (let team = 0; team < this.#left.length; team++) {
        if ((this.#left[team] as number) < member.size) continue
        if (--tries < 0) return false
        this.#sit(member, team)
        effort.charge(1)
        if (this.#part(this.#teams, this.#left, levels, this.#others) && from(at + 1)) return true
        this.#stand(member)
      }
      return false
    }
    return from(0) || (tries < 0 ? undefined : false)
  }

  #restore(teams: readonly number[]): void {
    for (const [at, member] of this.#members.entries()) this.#sit(member, teams[at] as number)
  }

  #sit(member: Member<Facts>, team: number): void {
    member.team = team
    this.#left[team] = (this.#left[team] as number) - member.size
    ;(this.#teams[team] as Facts[]).push(member.facts)
  }

  #stand(member: Member<Facts>): void {
    const team = this.#teams[member.team] as Facts[]
    team.splice(team.lastIndexOf(member.facts), 1)
    this.#left[member.team] = (this.#left[member.team] as number) + member.size
  }

  /** The teams, those with the smallest filled share first. */
  #byRoom(): number[] {
    const filled = (team: number) => 1 - (this.#left[team] as number) / Math.max(1, this.#rooms[team] as number)
    return this.#rooms.map((_, team) => team).toSorted((one, other) => filled(one) - filled(other) || one - other)
  }
}
