/** The ports of one host. */
export interface PortPool {
  free(): number
  /** Takes the given number of free ports; undefined if there are not enough. */
  take(count: number): readonly number[] | undefined
  give(ports: readonly number[]): void
}

/**
 * Creates a pool of ports.
 * @param range the first and last port, both included.
 */
export function createPortPool(range: { readonly from: number; readonly to: number }): PortPool {
  const size = range.to - range.from + 1
  const taken = new Set<number>()
  let next = range.from

  const takeOne = () => {
    // Ports are given out in rotation, so that a late packet for a port just returned does not reach its next user.
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
