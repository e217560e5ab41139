// pure: waits, counted by their length

/** Waits up to here are one bucket; from here on each bucket is 8 % wider than the one before, up to a day. */
const FIRST_MS = 50
const GROWTH = Math.log(1.08)
const BUCKETS = 1 + Math.ceil(Math.log((24 * 3_600_000) / FIRST_MS) / GROWTH)

const bucketOf = (ms: number): number =>
  ms <= FIRST_MS ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / GROWTH))
/** The middle of a bucket: at most 4 % off. */
const middleOf = (bucket: number): number =>
  bucket === 0 ? FIRST_MS / 2 : FIRST_MS * Math.exp((bucket - 0.5) * GROWTH)

/** Counts waits in so little memory that every ten seconds of an hour have one of their own. */
export class WaitHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(waitMs: number): void {
    const bucket = bucketOf(waitMs)
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#total += 1
  }

  /** Adds what another one has counted, or takes it away again. */
  merge(other: WaitHistogram, sign: 1 | -1): void {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + sign * (other.#counts[bucket] as number)
    }
    this.#total += sign * other.#total
  }

  /** The wait that `share` of all do not exceed, in whole milliseconds; null without waits. */
  quantile(share: number): number | null {
    if (this.#total === 0) return null
    const rank = Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      seen += this.#counts[bucket] as number
      if (seen >= rank) return Math.round(middleOf(bucket))
    }
    return null
  }
}
