import { createLogUpdate } from 'log-update'
import type { RelayProgress } from './job.js'
import { sizeOf } from '../layout.js'
import { line, picture } from './picture.js'

export interface RelayScreen {
  show(progress: RelayProgress): void
  /** Ends the view. The last picture remains. */
  done(): void
}

const LINE_EVERY_MS = 2000
/** Milliseconds over which packets per second are counted. */
const RATE_MS = 500

/** Creates the view: a live picture in a terminal, or a line from time to time if the output is a file or a pipe. */
export function createRelayScreen(stream: NodeJS.WriteStream, now: () => number): RelayScreen {
  const startedAt = now()
  return stream.isTTY ? pictures(stream, now, startedAt) : lines(stream, now, startedAt)
}

function pictures(stream: NodeJS.WriteStream, now: () => number, startedAt: number): RelayScreen {
  const update = createLogUpdate(stream)
  const perSecond: number[] = []
  let last = { at: startedAt, packets: 0 }
  return {
    show: (progress) => {
      const elapsed = now() - last.at
      if (elapsed >= RATE_MS) {
        perSecond.push(Math.round(((progress.packetsRelayed - last.packets) / elapsed) * 1000))
        last = { at: now(), packets: progress.packetsRelayed }
      }
      update(picture(progress, perSecond, now() - startedAt, sizeOf(stream)))
    },
    done: () => update.done(),
  }
}

function lines(stream: NodeJS.WriteStream, now: () => number, startedAt: number): RelayScreen {
  let next = startedAt
  return {
    show: (progress) => {
      if (now() < next && progress.phase !== 'done') return
      next = now() + LINE_EVERY_MS
      stream.write(`${line(progress, now() - startedAt)}\n`)
    },
    done: () => {},
  }
}
