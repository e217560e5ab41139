/** The ports of one host. */
export interface PortPool {
  free(): number
  /** So many ports that nobody else has; undefined if there are not enough. */
  take(count: number): readonly number[] | undefined
  give(ports: readonly number[]): void
}

/** @param range both included. */
export function createPortPool(range: { readonly from: number; readonly to: number }): PortPool {
  const size = range.to - range.from + 1
  const taken = new Set<number>()
  let next = range.from

  const takeOne = () => {
    // Round and round, so that a port just given back is not the next one given out: a late packet would meet a
    // stranger.
    while (taken.has(next)) next = next === range.to ? range.from : next + 1
    const port = next
    taken.add(port)
    next = port === range.to ? range.from : port + 1
    return port
  }

  return {
    free: () => size - taken.size,
    take: (count) => (count > size - taken.size ? undefined : Array.from({ length: count }, takeOne)),
    give: (ports) => {
      for (const port of ports) taken.delete(port)
    },
  }
}
