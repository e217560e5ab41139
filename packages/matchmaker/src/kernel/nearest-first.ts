// pure: takes candidates in the order of their costs
/**
 * A heap: the candidate of the least cost comes off first. Cheaper than sorting where only the first ones are wanted.
 */
export class NearestFirst {
  #ids = new Int32Array(0)
  #costs = new Float64Array(0)
  #count = 0

  /** Takes over the first `count` of two arrays. */
  fill(ids: Int32Array, costs: Float64Array, count: number): void {
    if (this.#ids.length < ids.length) {
      this.#ids = new Int32Array(ids.length)
      this.#costs = new Float64Array(ids.length)
    }
    for (let at = 0; at < count; at++) {
      this.#ids[at] = ids[at] as number
      this.#costs[at] = costs[at] as number
    }
    this.#count = count
    for (let at = (count >>> 1) - 1; at >= 0; at--) this.#sink(at)
  }

  /** Takes the one of the least cost, of equal costs the one with the lowest id; −1 if none is left. */
  next(): number {
    if (this.#count === 0) return -1
    const first = this.#ids[0] as number
    const last = --this.#count
    this.#ids[0] = this.#ids[last] as number
    this.#costs[0] = this.#costs[last] as number
    this.#sink(0)
    return first
  }

  #sink(from: number): void {
    const ids = this.#ids
    const costs = this.#costs
    const count = this.#count
    const id = ids[from] as number
    const cost = costs[from] as number
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= count) break
      const [belowCost, belowId] = [costs[below] as number, ids[below] as number]
      if (below + 1 < count && comesBefore(ids, costs, below + 1, belowCost, belowId)) below += 1
      if (!comesBefore(ids, costs, below, cost, id)) break
      ids[at] = ids[below] as number
      costs[at] = costs[below] as number
      at = below
    }
    ids[at] = id
    costs[at] = cost
  }
}

const comesBefore = (ids: Int32Array, costs: Float64Array, at: number, cost: number, id: number): boolean =>
  (costs[at] as number) < cost || (costs[at] === cost && (ids[at] as number) < id)
