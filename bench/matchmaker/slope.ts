import { atMost, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import type { Slope } from './slope-process.js'

/**
 * Measures whether a busy matchmaker's memory stays constant. One run in a process of its own, because it takes
 * minutes.
 */
export async function slopeFigures(): Promise<Figures> {
  const program = new URL('./slope-process.js', import.meta.url)
  const { megabytesPerMinute, readsOfStopped, found } = await measuredBy<Slope>(program, [], {
    execArgv: ['--expose-gc'],
  })
  return {
    figures: [
      atMost(
        'matchmaker: growth of the heap at 5,000 tickets/s, over an hour of its clock',
        megabytesPerMinute,
        0.05,
        'MB a minute',
      ),
      atMost('status reads of servers that it had stopped itself', readsOfStopped, 0, 'reads'),
    ],
    peers: { 'matchmaker: an hour at 5,000 tickets/s': found },
  }
}
