// pure: a map of very many entries

/** Up to so many entries are in one map: that is quicker, and it grows in some milliseconds. */
const FEW = 32_768
/** Maps among which more entries are divided; a power of two. */
const PARTS = 16
/**
 * A `Map` from strings that never holds the event loop for long. A single one of a million entries is copied as a whole
 * when it grows, and again after as many changes: a tenth of a second. Entries are in the order in which they were set
 * only while they are few.
 */
export class LargeMap<Value> {
  size = 0
  /** All entries, while they are few. */
  #few: Map<string, Value> | undefined = new Map()
  #parts: readonly Map<string, Value>[] = []

  get(key: string): Value | undefined {
    return (this.#few ?? this.#partOf(key)).get(key)
  }

  has(key: string): boolean {
    return (this.#few ?? this.#partOf(key)).has(key)
  }

  set(key: string, value: Value): void {
    const part = this.#few ?? this.#partOf(key)
    const before = part.size
    part.set(key, value)
    this.size += part.size - before
    if (this.#few !== undefined && this.size > FEW) this.#divide(this.#few)
  }

  delete(key: string): boolean {
    const had = (this.#few ?? this.#partOf(key)).delete(key)
    if (had) this.size -= 1
    return had
  }

  /** Entries set while it runs may be left out. */
  *values(): Generator<Value, undefined> {
    if (this.#few !== undefined) yield* this.#few.values()
    else for (const part of this.#parts) yield* part.values()
    return undefined
  }

  #partOf(key: string): Map<string, Value> {
    return this.#parts[hashOf(key) & (PARTS - 1)] as Map<string, Value>
  }

  #divide(few: Map<string, Value>): void {
    this.#parts = Array.from({ length: PARTS }, () => new Map<string, Value>())
    this.#few = undefined
    for (const [key, value] of few) this.#partOf(key).set(key, value)
  }
}

/** Only of maps with many entries: it takes as long as to look one up. */
function hashOf(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
