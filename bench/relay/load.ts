import { fork } from 'node:child_process'
import { answer, letGo } from './answer.js'
import type { Order, Outcome } from './messages.js'

/** The process that sends and receives all packets. */
export interface Load {
  order(wanted: Order): Promise<Outcome>
  stop(): void
}

export function startLoad(): Load {
  const child = fork(new URL('./load-process.js', import.meta.url))
  return {
    order: (wanted) => {
      child.send(wanted)
      return answer<Outcome>(child)
    },
    stop: () => letGo(child),
  }
}
