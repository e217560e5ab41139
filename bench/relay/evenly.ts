/** Calls at equal distances. */
export interface Stream {
  readonly count: number
  readonly perSecond: number
  readonly call: (index: number, dueAt: number) => Promise<void>
}

/**
 * Makes the calls of all streams, each when it is due; resolves when all have ended. What is late is made up for, and
 * told when it was due. While nothing is due the thread waits, and neither in a timer, which would be late by a
 * millisecond itself, nor in turns of the event loop, which would leave garbage to be collected.
 */
export async function evenly(streams: readonly Stream[]): Promise<void> {
  const start = performance.now()
  const made = streams.map(() => 0)
  const dueAtOf = (index: number) => {
    const { count, perSecond } = streams[index] as Stream
    const next = made[index] as number
    return next < count ? start + (next / perSecond) * 1000 : Infinity
  }
  // Counted, and not kept: the memory for all promises would be of the load, not of what is measured.
  const calls = { open: 0 }
  const end = () => void (calls.open -= 1)
  for (;;) {
    let first = 0
    for (let index = 1; index < streams.length; index += 1) if (dueAtOf(index) < dueAtOf(first)) first = index
    const dueAt = dueAtOf(first)
    if (dueAt === Infinity) break
    waitUntil(dueAt)
    calls.open += 1
    void (streams[first] as Stream).call(made[first] as number, dueAt).finally(end)
    made[first] = (made[first] as number) + 1
    await turn()
  }
  while (calls.open > 0) await turn()
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

function waitUntil(time: number): void {
  for (let left = time - performance.now(); left > 0; left = time - performance.now()) Atomics.wait(nobody, 0, 0, left)
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
