import { fork } from 'node:child_process'
import { once } from 'node:events'
import { atMost, type Figures } from '../figure.js'
import type { LogCosts } from './ticket-log-process.js'

/** What it costs that tickets outlive the process: in a process of its own. */
export async function ticketLogFigures(): Promise<Figures> {
  const child = fork(new URL('./ticket-log-process.js', import.meta.url), { execArgv: ['--expose-gc'] })
  const [{ create, life, loadMs, heldMs, found }] = (await once(child, 'message')) as [LogCosts]
  return {
    figures: [
      // A create through the whole program may take 83 µs (12,000 a second), of which the log may take 15 %.
      atMost('ticket log: CPU of a create beyond one without it', create.logged - create.plain, 12_500, 'ns'),
      atMost('ticket log: CPU until a new process has 100,000 tickets of the one before', loadMs, 2000, 'ms'),
      atMost('ticket log: most CPU in a turn while a file of 100,000 tickets is rewritten', heldMs, 20, 'ms'),
    ],
    peers: { 'ticket log': { 'ns of CPU for a create': create, 'ns of CPU from created to assigned': life, ...found } },
  }
}
