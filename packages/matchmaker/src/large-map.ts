// pure: a map of very many entries
import { HashedEntries } from './hashed-entries.js'

/** Up to so many entries are in one map: that is quicker, and it grows in some milliseconds. */
const FEW = 32_768
/** Maps among which more entries are divided; a power of two. */
const PARTS = 16
/**
 * A `Map` from strings that never holds the event loop for long. A single one of a million entries is copied as a whole
 * when it grows, and again after as many changes: a tenth of a second. Entries are in the order in which they were set
 * only while they are few.
 */
export class LargeMap<Value extends NonNullable<unknown>> {
  size = 0
  /** All entries, while they are few. */
  #few: Map<string, Value> | undefined = new Map()
  #parts: readonly HashedEntries<Value>[] = []

  get(key: string): Value | undefined {
    if (this.#few !== undefined) return this.#few.get(key)
    const hash = hashOf(key)
    return this.#partOf(hash).get(key, hash)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: Value): void {
    if (this.#few === undefined) {
      const hash = hashOf(key)
      const part = this.#partOf(hash)
      const before = part.size
      part.set(key, hash, value)
      this.size += part.size - before
    } else {
      this.#few.set(key, value)
      this.size = this.#few.size
      if (this.size > FEW) this.#divide(this.#few)
    }
  }

  /** Sets the entry if there is none of its key. Returns the value that is there already. */
  setIfNew(key: string, value: Value): Value | undefined {
    if (this.#few !== undefined) {
      const there = this.#few.get(key)
      if (there === undefined) this.set(key, value)
      return there
    }
    const hash = hashOf(key)
    const part = this.#partOf(hash)
    const known = part.get(key, hash)
    if (known !== undefined) return known
    part.add(key, hash, value)
    this.size += 1
    return undefined
  }

  delete(key: string): boolean {
    const hash = hashOf(key)
    const had = this.#few === undefined ? this.#partOf(hash).delete(key, hash) : this.#few.delete(key)
    if (had) this.size -= 1
    return had
  }

  /** Entries set while it runs may be left out. */
  *values(): Generator<Value, undefined> {
    const few = this.#few
    if (few !== undefined) {
      yield* few.values()
      return undefined
    }
    for (const part of this.#parts) {
      for (const key of part.keys()) {
        const value = part.get(key, hashOf(key))
        if (value !== undefined) yield value
      }
    }
    return undefined
  }

  #partOf(hash: number): HashedEntries<Value> {
    return this.#parts[hash & (PARTS - 1)] as HashedEntries<Value>
  }

  #divide(few: Map<string, Value>): void {
    this.#parts = Array.from({ length: PARTS }, () => new HashedEntries<Value>())
    this.#few = undefined
    this.size = 0
    for (const [key, value] of few) this.set(key, value)
  }
}

/** Only of maps with many entries: it takes as long as to look one up. */
function hashOf(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
