// pure: whose connections end first where there are too many

/** The connections of one holder: how many it has, and how many of these may end. */
export interface Holding {
  readonly held: number
  readonly free: number
}

/**
 * The most connections that a holder may keep so that `need` end in all: those who hold most give first, and nobody who
 * holds no more than that gives any. 0 if all that may end are too few.
 */
export function levelFor(holdings: readonly Holding[], need: number): number {
  const freedAt = (level: number) =>
    holdings.reduce((sum, { held, free }) => sum + Math.min(free, Math.max(0, held - level)), 0)
  let [low, high] = [0, holdings.reduce((most, { held }) => Math.max(most, held), 0)]
  // The greatest level that frees enough.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (freedAt(middle) >= need) low = middle
    else high = middle - 1
  }
  return low
}

/** Things by a size each that changes by one at a time, so that a largest one is known at once. */
export class BySize<Thing> {
  readonly #bySize: Set<Thing>[] = []
  #largest = 0

  /** Of 0, the thing is not kept. */
  move(thing: Thing, from: number, to: number): void {
    this.#bySize[from]?.delete(thing)
    if (to > 0) (this.#bySize[to] ??= new Set()).add(thing)
    this.#largest = Math.max(this.#largest, to)
    while (this.#largest > 0 && (this.#bySize[this.#largest]?.size ?? 0) === 0) this.#largest -= 1
  }

  largest(): Thing | undefined {
    return this.#bySize[this.#largest]?.values().next().value
  }
}
