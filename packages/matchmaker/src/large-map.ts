// pure: a map of very many entries
import { HashedEntries } from './hashed-entries.js'

/** Up to so many entries are in one map: that is quicker, and it grows in a millisecond. */
const FEW = 16_384
/** Maps among which more entries are divided; a power of two. */
const PARTS = 64
/** Entries that are moved with each new one, while they are being divided. */
const MOVED_AT_ONCE = 4

/**
 * A `Map` from strings that never holds the event loop for long. A single one of a million entries is copied as a whole
 * when it grows, and again after as many changes: a tenth of a second. Entries are in the order in which they were set
 * only while they are few.
 */
export class LargeMap<Value extends NonNullable<unknown>> {
  size = 0
  /** All entries while they are few; then those there were, until each of them is in its part. */
  #few: Map<string, Value> | undefined = new Map()
  /** None while the entries are few. Of an entry that is also in `#few`, the value here counts. */
  #parts: readonly HashedEntries<Value>[] = []
  #unmoved: MapIterator<[string, Value]> | undefined

  get(key: string): Value | undefined {
    if (this.#parts.length === 0) return this.#few?.get(key)
    const hash = hashOf(key)
    return this.#partOf(hash).get(key, hash) ?? this.#few?.get(key)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: Value): void {
    if (this.#parts.length === 0) return this.#setFew(key, value)
    const hash = hashOf(key)
    const part = this.#partOf(hash)
    const before = part.size
    part.set(key, hash, value)
    this.size += part.size - before
    if (this.#few === undefined) return
    if (this.#few.has(key)) {
      // It was counted there.
      this.size -= part.size - before
      this.#few.set(key, value)
    }
    this.#moveSome()
  }

  /** Sets the entry if there is none of its key. Returns the value that is there already. */
  setIfNew(key: string, value: Value): Value | undefined {
    if (this.#parts.length === 0 || this.#few !== undefined) {
      const there = this.get(key)
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
    let had = this.#few?.delete(key) === true
    if (this.#parts.length > 0) {
      const hash = hashOf(key)
      had = this.#partOf(hash).delete(key, hash) || had
    }
    if (had) this.size -= 1
    return had
  }

  /** Entries set while it runs may be left out. */
  *values(): Generator<Value, undefined> {
    const few = this.#few
    if (few !== undefined && this.#parts.length === 0) yield* few.values()
    else if (few !== undefined) for (const key of few.keys()) yield this.get(key) as Value
    for (const part of this.#parts) {
      for (const key of part.keys()) {
        const value = few?.has(key) === true ? undefined : part.get(key, hashOf(key))
        if (value !== undefined) yield value
      }
    }
    return undefined
  }

  #partOf(hash: number): HashedEntries<Value> {
    return this.#parts[hash & (PARTS - 1)] as HashedEntries<Value>
  }

  #setFew(key: string, value: Value): void {
    const few = this.#few as Map<string, Value>
    // One more would make it grow once again, and as a whole.
    if (few.size < FEW || few.has(key)) {
      few.set(key, value)
      this.size = few.size
      return
    }
    this.#parts = Array.from({ length: PARTS }, () => new HashedEntries<Value>())
    this.#unmoved = few.entries()
    this.set(key, value)
  }

  #moveSome(): void {
    for (let moved = 0; moved < MOVED_AT_ONCE; moved += 1) {
      const { value: entry, done } = this.#unmoved?.next() ?? { value: undefined, done: true }
      if (done === true) {
        this.#few = undefined
        this.#unmoved = undefined
        return
      }
      const [key, value] = entry as [string, Value]
      const hash = hashOf(key)
      const part = this.#partOf(hash)
      if (part.get(key, hash) === undefined) part.add(key, hash, value)
    }
  }
}

/** Only of maps with many entries: it takes as long as to look one up. */
function hashOf(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
