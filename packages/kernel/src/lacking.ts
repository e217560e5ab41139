// pure: the players of needed kinds that a match in the making lacks
import type { CandidateList } from './candidate-list.js'
import type { Slot } from './model.js'
import type { Supply } from './supply.js'

/** Counts, as members come and go, how many players of each needed kind a match still lacks. */
export class Lacking<Facts> {
  readonly #supply: Supply<Facts>
  /** Players lacking for each need; below 0 where there are more than needed. */
  readonly #lacking: Int32Array
  /** For each need, how many players the candidates from each position on bring; set by `expect`. */
  #behind = new Int32Array(0)

  constructor(supply: Supply<Facts>) {
    this.#supply = supply
    this.#lacking = new Int32Array(supply.needs.length)
  }

  /** Starts a new match at a level, with the players present. */
  begin(level: number, present: readonly Facts[]): void {
    for (const [need, { atLeast, countOf }] of this.#supply.needs.entries()) {
      this.#lacking[need] = (atLeast[level] as number) - present.reduce((sum, facts) => sum + countOf(facts), 0)
    }
  }

  add(slot: Slot): void {
    for (let need = 0; need < this.#lacking.length; need++)
      this.#lacking[need] = (this.#lacking[need] as number) - this.#supply.of(slot, need)
  }

  drop(slot: Slot): void {
    for (let need = 0; need < this.#lacking.length; need++)
      this.#lacking[need] = (this.#lacking[need] as number) + this.#supply.of(slot, need)
  }

  of(need: number): number {
    return this.#lacking[need] as number
  }

  /** Whether the players lacking of each kind fit into this much room. */
  leavesRoomFor(room: number): boolean {
    return this.#lacking.every((players) => players <= room)
  }

  /** Whether the players lacking of each kind fit into the room left once this ticket has joined. */
  leavesRoom(slot: Slot, room: number): boolean {
    for (let need = 0; need < this.#lacking.length; need++)
      if ((this.#lacking[need] as number) - this.#supply.of(slot, need) > room) return false
    return true
  }

  /** Declares the candidates that may still join, in the order in which they are tried. */
  expect(candidates: Pick<CandidateList, 'count' | 'slotAt'>): void {
    const { count } = candidates
    const many = this.#lacking.length
    if (this.#behind.length < (count + 1) * many) this.#behind = new Int32Array(2 * (count + 1) * many)
    for (let need = 0; need < many; need++) this.#behind[count * many + need] = 0
    for (let at = count - 1; at >= 0; at--) {
      const slot = candidates.slotAt(at)
      for (let need = 0; need < many; need++) {
        this.#behind[at * many + need] = (this.#behind[(at + 1) * many + need] as number) + this.#supply.of(slot, need)
      }
    }
  }

  /** Whether the candidates from this position on bring enough players of every kind lacking. */
  canBeHad(from: number): boolean {
    const many = this.#lacking.length
    for (let need = 0; need < many; need++)
      if ((this.#lacking[need] as number) > (this.#behind[from * many + need] as number)) return false
    return true
  }
}
