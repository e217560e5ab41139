/** The prefix of each knock of Muster, and its bytes. */
const KNOCK = 'muster-knock-'
const KNOCK_BYTES = 43

/** The knock with which Muster tests whether the game's socket can be reached. The next report repeats it. */
export class Knocks {
  readonly #changed: () => void
  #awaited: string | undefined
  #latest: string | undefined

  /** @param changed called when there is a knock to report */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Sets the beginning of the knock that Muster waits for. Undefined: none. */
  expect(beginning: string | undefined): void {
    this.#awaited = beginning
    if (beginning === undefined) this.#latest = undefined
  }
  /** Returns true if the datagram is a knock. */
  receive(datagram: Uint8Array): boolean {
    if (datagram.length !== KNOCK_BYTES) return false
    const text = Buffer.from(datagram).toString('latin1')
    if (!text.startsWith(KNOCK)) return false
    // Ignores other beginnings, because anybody can send them.
    if (this.#awaited !== undefined && text.startsWith(this.#awaited) && text !== this.#latest) {
      this.#latest = text
      this.#changed()
    }
    return true
  }
  /** The latest knock, for the next report. */
  latest(): string | undefined {
    return this.#latest
  }
}
