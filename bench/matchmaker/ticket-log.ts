import { atMost, median, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import type { Cost, LogCosts } from './ticket-log-process.js'

/** Measures what it costs that tickets outlive the process, in a process of its own. */
export async function ticketLogFigures(): Promise<Figures> {
  const program = new URL('./ticket-log-process.js', import.meta.url)
  const { create, life, loadMs, heldMs, found } = await measuredBy<LogCosts>(program, [], {
    execArgv: ['--expose-gc'],
  })
  const beyond = create.logged.map((logged, round) => logged - (create.plain[round] as number))
  const medians = ({ plain, logged }: Cost) => ({
    plain: Math.round(median(plain)),
    logged: Math.round(median(logged)),
  })
  return {
    figures: [
      // A create through the whole program may take 83 µs (12,000 per second). The log may take 15 % of that.
      atMost('store: CPU of a create beyond one without it', beyond, 12_500, 'ns'),
      atMost('store: CPU until a new process has 100,000 tickets of the one before', loadMs, 2000, 'ms'),
      atMost('store: most CPU in a turn while a file of 100,000 tickets is rewritten', heldMs, 20, 'ms'),
    ],
    peers: {
      store: {
        'ns of CPU for a create': medians(create),
        'ns of CPU from created to assigned': medians(life),
        ...found,
      },
    },
  }
}
