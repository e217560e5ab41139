// pure: areas that lie too close to be told apart are one circle

/** Something at a point of the map, with a weight. */
export interface Weighted {
  readonly x: number
  readonly y: number
  readonly weight: number
}

export interface Merged<Item extends Weighted> extends Weighted {
  /** The same for the same cell of the map, whatever it holds. */
  readonly key: string
  readonly items: readonly Item[]
}

/**
 * Puts what is in the same cell of a grid together, at its weighted middle: the heavy ones first, and nothing is lost.
 * The grid stands still, so circles do not jump from one moment to the next.
 */
export function mergeClusters<Item extends Weighted>(items: readonly Item[], cell: number): readonly Merged<Item>[] {
  const cells = new Map<string, Item[]>()
  for (const item of items) {
    if (item.weight <= 0) continue
    const key = `${Math.floor(item.x / cell)},${Math.floor(item.y / cell)}`
    const there = cells.get(key)
    if (there === undefined) cells.set(key, [item])
    else there.push(item)
  }
  return [...cells]
    .map(([key, there]) => {
      const weight = there.reduce((total, item) => total + item.weight, 0)
      const middle = (of: 'x' | 'y') => there.reduce((total, item) => total + item[of] * item.weight, 0) / weight
      return { key, weight, x: middle('x'), y: middle('y'), items: there }
    })
    .toSorted((one, other) => size(other) - size(one) || (one.key < other.key ? -1 : 1))
}

/** Weights that are about the same do not change places from one moment to the next. */
const size = ({ weight }: Weighted) => Math.round(Math.log2(weight))

/** The radius of a circle in pixels: its area grows with the number, and the largest leaves others in sight. */
export function radiusOf(weight: number, heaviest: number): number {
  const largest = Math.min(22, 7 + 3.2 * Math.log10(Math.max(1, heaviest)) ** 1.4)
  return Math.max(3.5, largest * Math.sqrt(weight / Math.max(1, heaviest)))
}
