import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'
import type { RedisClient } from './client.js'

/** Makes a connection anew that answers nothing any more. */
export interface Revival {
  /** Begins, unless it is under way or closed. */
  begin(): void
  close(): void
}

export interface RevivalOptions {
  readonly client: RedisClient
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number
  readonly clock: Clock
}

/** Milliseconds between two attempts. */
const PAUSE_MS = 200

/**
 * Where a host vanishes without a word (a power failure, a cut cable), TCP itself gives up after about 15 minutes. Here
 * the connection is dropped as soon as a command has waited for its whole time, and no other was answered meanwhile.
 */
export function createRevival({ client, timeoutMs, clock }: RevivalOptions): Revival {
  const closing = new AbortController()
  let isUnderWay = false

  const connect = () =>
    client.connect().then(
      () => true,
      () => false, // the client has told of it as an error
    )
  const run = async () => {
    while (!closing.signal.aborted) {
      // What was sent is rejected, its outcome unknown.
      client.destroy()
      if ((await within(connect(), timeoutMs, clock, closing.signal)) === true) return
      await clock.sleep(PAUSE_MS, closing.signal)
    }
  }

  return {
    begin: () => {
      if (isUnderWay || closing.signal.aborted) return
      isUnderWay = true
      void run()
        .catch(() => {}) // closed
        .finally(() => {
          isUnderWay = false
        })
    },
    close: () => closing.abort(),
  }
}
