/** Milliseconds within which tickets count as created at the same time. */
const SLOT_MS = 1000

interface Slot {
  readonly key: number
  tickets: number
}

/** The tickets that wait, counted by the second of their creation: as many slots as seconds in which they came. */
export class WaitingTickets {
  readonly #slots = new Map<number, Slot>()
  /** The slot that was used last: tickets come, and are matched, many at a time. */
  #last: Slot = { key: Number.NaN, tickets: 0 }
  #tickets = 0
  #players = 0

  get tickets(): number {
    return this.#tickets
  }
  get players(): number {
    return this.#players
  }

  add(createdAt: number, players: number): void {
    this.#slotOf(createdAt).tickets += 1
    this.#tickets += 1
    this.#players += players
  }

  remove(createdAt: number, players: number): void {
    const slot = this.#slotOf(createdAt)
    slot.tickets -= 1
    if (slot.tickets <= 0) this.#slots.delete(slot.key)
    this.#tickets -= 1
    this.#players -= players
  }

  /** Their numbers, by the middle of the second in which they were created. */
  byCreation(): (readonly [createdAt: number, tickets: number])[] {
    return Array.from(this.#slots.values(), ({ key, tickets }) => [(key + 0.5) * SLOT_MS, tickets] as const)
  }

  #slotOf(createdAt: number): Slot {
    const key = Math.floor(createdAt / SLOT_MS)
    if (this.#last.key === key && this.#last.tickets > 0) return this.#last
    let slot = this.#slots.get(key)
    if (slot === undefined) this.#slots.set(key, (slot = { key, tickets: 0 }))
    this.#last = slot
    return slot
  }
}
