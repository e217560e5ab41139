/**
 * Makes calls at equal distances; resolves when all have ended. What is late is made up for, and told when it was due.
 * The loop is never left to a timer, which would be late by a millisecond itself: a call is late only where the thread
 * had something else to do.
 */
export async function evenly(
  count: number,
  perSecond: number,
  call: (index: number, dueAt: number) => Promise<void>,
): Promise<void> {
  const start = performance.now()
  // Counted, and not kept: the memory for all promises would be of the load, not of what is measured.
  const calls = { open: 0 }
  const end = () => void (calls.open -= 1)
  for (let index = 0; index < count;) {
    await turn()
    for (; index < count; index += 1) {
      const dueAt = start + (index / perSecond) * 1000
      if (dueAt > performance.now()) break
      calls.open += 1
      void call(index, dueAt).finally(end)
    }
  }
  while (calls.open > 0) await turn()
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
