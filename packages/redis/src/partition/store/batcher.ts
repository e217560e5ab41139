import { cut } from './commit-parts.js'

/** Sends all calls of one turn of the event loop together. */
export type Batcher<T, R> = (items: readonly T[]) => Promise<readonly R[]>

interface Waiting<T, R> {
  readonly items: readonly T[]
  readonly resolve: (results: readonly R[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param send gets a batch of bounded weight, and gives a result for each item, in order. Where it fails, all callers
 * whose items were in the batch fail.
 */
export function createBatcher<T, R>(
  send: (items: readonly T[]) => Promise<readonly R[]>,
  weigh: (item: T) => number = () => 1,
): Batcher<T, R> {
  let waiting: Waiting<T, R>[] = []

  const flush = () => {
    const all = waiting
    waiting = []
    const items = all.length === 1 ? (all[0] as Waiting<T, R>).items : all.flatMap((one) => one.items)
    const batches = cut(items, weigh)
    const results = batches.map(send)
    // A caller hears of the first of its batches that failed alone.
    for (const result of results) result.catch(() => {})
    // A caller's items may be in several batches.
    let from = 0
    for (const { items: mine, resolve, reject } of all) {
      gather(results, batches, from, mine.length).then(resolve, reject)
      from += mine.length
    }
  }

  return (items) => {
    if (items.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject })
      if (waiting.length === 1) setImmediate(flush)
    })
  }
}

/** The results of `count` items from the `from`-th on. */
async function gather<T, R>(
  results: readonly Promise<readonly R[]>[],
  batches: readonly (readonly T[])[],
  from: number,
  count: number,
): Promise<readonly R[]> {
  const found: R[] = []
  let first = 0
  for (const [index, batch] of batches.entries()) {
    const [begin, end] = [Math.max(from, first), Math.min(from + count, first + batch.length)]
    if (begin < end) {
      const all = await (results[index] as Promise<readonly R[]>)
      if (end - begin === all.length) found.push(...all)
      else for (let at = begin - first; at < end - first; at += 1) found.push(all[at] as R)
    }
    first += batch.length
  }
  return found
}
