// pure: a team for each member of a match in the making, as long as the match can still become one
import type { Effort } from './effort.js'
import type { Checks, MatchLevels } from './model.js'

/** Tries to seat everybody anew before members count as possible. */
const MOST_TRIES = 64

interface Member<Facts> {
  readonly size: number
  readonly facts: Facts
  team: number
}

/**
 * Asks `part` about a match as its members come and go. Which member is in which team is settled only in the end (see
 * `arrange.ts`): here some way to seat them all is kept, and somebody for whom there is none cannot be a member.
 */
export class Seating<Facts> {
  readonly #part: NonNullable<Checks<Facts>['part']>
  #rooms: readonly number[] = []
  #others: readonly Facts[] | undefined
  #members: Member<Facts>[] = []
  /** Who is in each team, those who were there before included. */
  #teams: Facts[][] = []
  #left: number[] = []
  /** Members from here on have no team: finding one for each would take too long. */
  #unknownFrom = Infinity

  constructor(part: NonNullable<Checks<Facts>['part']>) {
    this.#part = part
  }

  /** Begins anew with whoever is present. */
  begin(rooms: readonly number[], present: readonly (readonly Facts[])[]): void {
    this.#rooms = rooms
    this.#left = [...rooms]
    this.#teams = rooms.map((_, team) => [...(present[team] ?? [])])
    this.#members = []
    this.#others = undefined
    this.#unknownFrom = Infinity
  }

  /** Everyone who may still join from now on. */
  expect(others: readonly Facts[] | undefined): void {
    this.#others = others
  }

  /** Adds a member if there is a way to seat everybody. */
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

  /** Takes the last member back. */
  drop(): void {
    const member = this.#members.pop()
    if (member === undefined) return
    if (this.#members.length >= this.#unknownFrom) {
      if (this.#members.length === this.#unknownFrom) this.#unknownFrom = Infinity
      return
    }
    this.#stand(member)
  }

  /** The team of each member; undefined if no way to seat them all is known. */
  seats(): number[] | undefined {
    return this.#unknownFrom === Infinity ? this.#members.map(({ team }) => team) : undefined
  }

  /**
   * Seats a member with the others where they are. The emptiest team comes first, so that none is left without players.
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

  /** Seats all in some other way. False if there is none, undefined if that was not found out. */
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

  /** The teams, those first that are emptiest compared with their room. */
  #byRoom(): number[] {
    const filled = (team: number) => 1 - (this.#left[team] as number) / Math.max(1, this.#rooms[team] as number)
    return this.#rooms.map((_, team) => team).toSorted((one, other) => filled(one) - filled(other) || one - other)
  }
}
