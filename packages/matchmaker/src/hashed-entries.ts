// pure: entries that are found by a hash of their keys

/** In place of a hash: nothing was ever here, or what was is removed. */
const FREE = 0
const GONE = 1
/** Places that are looked at for a key: their hashes share a line of the cache or two. */
const NEAR = 16
const FIRST = 16
/** In place of a place: the key is nowhere, or it can only be among the crowded. */
const NOWHERE = -1
const CROWDED = -2
const NOBODY: readonly never[] = []

interface Crowded<Value> {
  readonly hash: number
  readonly value: Value
}

/**
 * A map from strings whose hashes the caller knows. The engine's own `Map` computes a hash of each new text once more,
 * in a call that takes longer than all else here. Keys of which too many have the same hash are kept in such a `Map`,
 * so that whoever chooses keys can make nothing slow.
 */
export class HashedEntries<Value> {
  size = 0
  #hashes = new Int32Array(FIRST)
  #keys = new Array<string | undefined>(FIRST)
  #values = new Array<Value | undefined>(FIRST)
  /** Places that are not `FREE`. */
  #used = 0
  /** Entries for which there was no place near. */
  #crowded: Map<string, Crowded<Value>> | undefined

  get(key: string, hash: number): Value | undefined {
    const place = this.#find(key, hash | 2)
    if (place >= 0) return this.#values[place]
    return place === CROWDED ? this.#crowded?.get(key)?.value : undefined
  }

  set(key: string, hash: number, value: Value): void {
    const place = this.#find(key, hash | 2)
    if (place >= 0) this.#values[place] = value
    else if (place === CROWDED && this.#crowded?.has(key) === true) this.#crowded.set(key, { hash: hash | 2, value })
    else this.#add(key, hash | 2, value)
  }

  /** Adds an entry that is not there. */
  add(key: string, hash: number, value: Value): void {
    this.#add(key, hash | 2, value)
  }

  delete(key: string, hash: number): boolean {
    const place = this.#find(key, hash | 2)
    if (place < 0 && (place === NOWHERE || this.#crowded?.delete(key) !== true)) return false
    if (place >= 0) {
      this.#hashes[place] = GONE
      this.#keys[place] = undefined
      this.#values[place] = undefined
    }
    this.size -= 1
    return true
  }

  /** The keys that are there now. */
  keys(): string[] {
    const keys: string[] = this.#crowded === undefined ? [] : [...this.#crowded.keys()]
    for (const key of this.#keys) if (key !== undefined) keys.push(key)
    return keys
  }

  #find(key: string, hash: number): number {
    const hashes = this.#hashes
    const last = hashes.length - 1
    for (let step = 0; step < NEAR; step += 1) {
      const place = ((hash >>> 8) + step) & last
      const there = hashes[place]
      if (there === hash && this.#keys[place] === key) return place
      // It was free when the key came, too: only `#makeRoom` frees places, and it looks for one for each crowded key.
      if (there === FREE) return NOWHERE
    }
    return this.#crowded === undefined ? NOWHERE : CROWDED
  }

  #add(key: string, hash: number, value: Value): void {
    if (3 * (this.#used + 1) > 2 * this.#hashes.length) this.#makeRoom()
    this.size += 1
    const hashes = this.#hashes
    const last = hashes.length - 1
    for (let step = 0; step < NEAR; step += 1) {
      const place = ((hash >>> 8) + step) & last
      const there = hashes[place]
      if (there !== FREE && there !== GONE) continue
      if (there === FREE) this.#used += 1
      hashes[place] = hash
      this.#keys[place] = key
      this.#values[place] = value
      return
    }
    this.#crowded ??= new Map()
    this.#crowded.set(key, { hash, value })
  }

  /** Twice the places, or as many without those of removed entries. */
  #makeRoom(): void {
    const [hashes, keys, values, crowded] = [this.#hashes, this.#keys, this.#values, this.#crowded]
    const places = hashes.length * (3 * this.size > hashes.length ? 2 : 1)
    this.#hashes = new Int32Array(places)
    this.#keys = new Array<string | undefined>(places)
    this.#values = new Array<Value | undefined>(places)
    this.#used = 0
    this.#crowded = undefined
    this.size = 0
    for (let place = 0; place < hashes.length; place += 1) {
      const key = keys[place]
      if (key !== undefined) this.#add(key, hashes[place] as number, values[place] as Value)
    }
    for (const [key, { hash, value }] of crowded ?? NOBODY) this.#add(key, hash, value)
  }
}
