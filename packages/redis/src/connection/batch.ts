// pure: calls of one turn of the event loop, sent together in steps of limited size
/** Maximum weight of one step (our choice), because a script blocks all other commands while it runs. */
export const MOST_WEIGHT = 256

/** Divides items into steps of at most this weight, in order. A single item may weigh more. */
export function cut<T>(items: Iterable<T>, weigh: (item: T) => number, most = MOST_WEIGHT): readonly (readonly T[])[] {
  const steps: T[][] = []
  let room = 0
  for (const item of items) {
    const weight = weigh(item)
    if (room < weight || steps.length === 0) {
      steps.push([])
      room = most
    }
    room -= weight
    ;(steps.at(-1) as T[]).push(item)
  }
  return steps
}

/** Sends all calls of one turn of the event loop together. */
export type Batcher<T, R> = (items: readonly T[]) => Promise<readonly R[]>

/**
 * @param send sends a batch of limited weight, and returns a result for each item, in order. If it fails, all callers
 *   with items in the batch fail.
 */
export function createBatcher<T, R>(
  send: (items: readonly T[]) => Promise<readonly R[]>,
  weigh: (item: T) => number = () => 1,
): Batcher<T, R> {
  interface Waiting {
    readonly item: T
    readonly resolve: (result: R) => void
    readonly reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []

  const sendBatch = async (batch: readonly Waiting[]) => {
    try {
      const results = await send(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  const flush = () => {
    const all = waiting
    waiting = []
    for (const batch of cut(all, ({ item }) => weigh(item))) void sendBatch(batch)
  }
  const sent = (item: T) =>
    new Promise<R>((resolve, reject) => {
      if (waiting.push({ item, resolve, reject }) === 1) setImmediate(flush)
    })

  return (items) => Promise.all(items.map(sent))
}
