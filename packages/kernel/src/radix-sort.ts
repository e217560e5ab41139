// pure: sorts 32-bit keys and their items in time linear in their count

/** The sorter and its arrays. `sort` may swap the arrays, so read `keys` and `items` anew after each sort. */
export interface Sorter {
  /** Sort keys and the item of each key. Write the first `count` of both, then call `sort`. */
  keys: Uint32Array<ArrayBuffer>
  items: Int32Array<ArrayBuffer>
  /** Makes room for `count` keys. The contents of the arrays are lost. */
  reserve(count: number): void
  /**
   * Sorts by key, ascending and stable.
   * @param bits number of lower bits in which keys differ at most.
   * @param most bits sorted in one pass at most; fewer pay if there are few keys. Default and maximum 13.
   */
  sort(count: number, bits: number, most?: number): void
  bytes(): number
}

/**
 * Bits sorted in one pass at most: the 8,192 counters, and a cache line for each position written to, still fit the
 * processor's caches.
 */
const DIGIT = 13

export function createSorter(): Sorter {
  const starts = new Uint32Array(1 << DIGIT)
  let otherKeys = new Uint32Array(0)
  let otherItems = new Int32Array(0)

  const sorter: Sorter = {
    keys: new Uint32Array(0),
    items: new Int32Array(0),
    bytes: () => 16 * otherKeys.length,
    reserve: (count) => {
      if (count <= otherKeys.length) return
      const size = 2 ** Math.ceil(Math.log2(count))
      sorter.keys = new Uint32Array(size)
      sorter.items = new Int32Array(size)
      otherKeys = new Uint32Array(size)
      otherItems = new Int32Array(size)
    },
    sort: (count, bits, most = DIGIT) => {
      const passes = Math.ceil(bits / most)
      const digit = Math.ceil(bits / passes)
      for (let pass = 0; pass < passes; pass++) {
        const shift = pass * digit
        const mask = (1 << digit) - 1
        starts.fill(0, 0, mask + 1)
        tally(sorter.keys, count, shift, mask, starts)
        accumulate(starts, mask + 1)
        scatter(sorter.keys, sorter.items, count, shift, mask, starts, otherKeys, otherItems)
        ;[sorter.keys, otherKeys] = [otherKeys, sorter.keys]
        ;[sorter.items, otherItems] = [otherItems, sorter.items]
      }
    },
  }
  return sorter
}

// Each loop has a function of its own, so that V8 compiles each once and does not deoptimize it.

function tally(keys: Uint32Array, count: number, shift: number, mask: number, counts: Uint32Array): void {
  for (let at = 0; at < count; at++) {
    const value = ((keys[at] as number) >>> shift) & mask
    counts[value] = (counts[value] as number) + 1
  }
}

/** Turns the count of each value into the position where the value begins. */
function accumulate(counts: Uint32Array, values: number): void {
  for (let value = 0, sum = 0; value < values; value++) {
    const many = counts[value] as number
    counts[value] = sum
    sum += many
  }
}

function scatter(
  keys: Uint32Array,
  items: Int32Array,
  count: number,
  shift: number,
  mask: number,
  starts: Uint32Array,
  toKeys: Uint32Array,
  toItems: Int32Array,
): void {
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    const value = (key >>> shift) & mask
    const to = starts[value] as number
    starts[value] = to + 1
    toKeys[to] = key
    toItems[to] = items[at] as number
  }
}
