/** Calls at equal intervals. */
export interface Stream {
  readonly count: number
  readonly perSecond: number
  readonly call: (index: number, dueAt: number) => Promise<void>
}

/**
 * Makes the calls of all streams, each when it is due. Resolves when all have ended. A late call is made at once, and
 * gets the time at which it was due. Between calls the thread waits actively: a timer could be late by a millisecond,
 * and turns of the event loop would create garbage.
 */
export async function evenly(streams: readonly Stream[]): Promise<void> {
  const start = performance.now()
  const made = streams.map(() => 0)
  const dueAtOf = (index: number) => {
    const { count, perSecond } = streams[index] as Stream
    const next = made[index] as number
    return next < count ? start + (next / perSecond) * 1000 : Infinity
  }
  // Calls are only counted, because the memory for all promises would belong to the load, not to the measured program.
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
