// pure: puts candidates in the order of their costs

/** Up to so many are sorted by insertion. */
const FEW = 40
/** Bits of a cost that are given up for the position of the candidate: so many candidates can be told apart. */
const POSITION = 12
const MOST = 1 << POSITION
/** Which half of a number of 64 bits has the lower bits. */
const LOWER = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1

/**
 * Sorts positions by cost. The last bits of each cost, which mean nothing, are replaced by the position, so that only
 * numbers are sorted; of equal costs the first position comes first.
 */
export class NearestFirst {
  readonly #keys = new Float64Array(MOST)
  readonly #halves = new Uint32Array(this.#keys.buffer)

  /** @param costs none below 0. @param count how many of them, at most 4,096. */
  sort(costs: Float64Array, count: number): void {
    const keys = this.#keys
    const halves = this.#halves
    for (let at = 0; at < count; at++) {
      keys[at] = costs[at] as number
      const half = 2 * at + LOWER
      halves[half] = ((halves[half] as number) & -MOST) | at
    }
    if (count > FEW) keys.subarray(0, count).sort()
    else sortFew(keys, count)
  }

  /** The position that comes at this place. */
  at(place: number): number {
    return (this.#halves[2 * place + LOWER] as number) & (MOST - 1)
  }
}

function sortFew(keys: Float64Array, count: number): void {
  for (let from = 1; from < count; from++) {
    const key = keys[from] as number
    let to = from
    for (; to > 0 && (keys[to - 1] as number) > key; to--) keys[to] = keys[to - 1] as number
    keys[to] = key
  }
}
