/**
 * A knock is a datagram with which Muster tests whether the game's socket can be reached. Every knock begins with this
 * prefix, and has this length in bytes.
 */
const KNOCK = 'muster-knock-'
const KNOCK_BYTES = 43

/** Receives knocks. The next report repeats the latest one. */
export class Knocks {
  readonly #changed: () => void
  #awaited: string | undefined
  #latest: string | undefined

  /** @param changed called when there is a knock to report */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Sets the beginning of the knock that Muster expects. Undefined: Muster expects none. */
  expect(beginning: string | undefined): void {
    this.#awaited = beginning
    if (beginning === undefined) this.#latest = undefined
  }
  /** Returns true if the datagram is a knock. */
  receive(datagram: Uint8Array): boolean {
    if (datagram.length !== KNOCK_BYTES) return false
    const text = Buffer.from(datagram).toString('latin1')
    if (!text.startsWith(KNOCK)) return false
    // Knocks with another beginning are ignored, because everybody can send them.
    if (this.#awaited !== undefined && text.startsWith(this.#awaited) && text !== this.#latest) {
      this.#latest = text
      this.#changed()
    }
    return true
  }
  /** Returns the latest knock, for the next report. */
  latest(): string | undefined {
    return this.#latest
  }
}
