// pure: a queue of numbers

/**
 * A first-in, first-out queue of numbers in one typed array, so that long queues cost the garbage collector nothing.
 */
export interface NumberQueue {
  size(): number
  first(): number | undefined
  push(number: number): void
  shift(): void
}

export function createNumberQueue(): NumberQueue {
  // A ring buffer whose size is a power of two.
  let ring = new Float64Array(16)
  let head = 0
  let size = 0
  const grow = () => {
    const larger = new Float64Array(ring.length * 2)
    larger.set(ring.subarray(head))
    larger.set(ring.subarray(0, head), ring.length - head)
    ring = larger
    head = 0
  }
  return {
    size: () => size,
    first: () => (size === 0 ? undefined : ring[head]),
    push: (number) => {
      if (size === ring.length) grow()
      ring[(head + size) & (ring.length - 1)] = number
      size += 1
    },
    shift: () => {
      if (size === 0) return
      head = (head + 1) & (ring.length - 1)
      size -= 1
    },
  }
}
