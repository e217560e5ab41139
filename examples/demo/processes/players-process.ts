/*
 * Runs all players in a process of their own, as if they were on the internet. Their work takes no time from the
 * service, and they use only the ticket API.
 */
import { systemClock } from '@muster/core/clock'
import type { Arrival } from '../crowd.js'
import { ticketIdOf, type PlayersMessage, type PlayersOrder, type SeenCounts } from './messages.js'
import { createVisitors, type Visitors } from './visitors.js'

const TELL_EVERY_MS = 100

const tell = (message: PlayersMessage) => void process.send?.(message)
const ending = new AbortController()
let urls: readonly string[] = []
let turn = 0
const nextUrl = () => {
  turn += 1
  return urls[turn % urls.length] ?? ''
}

function countsOf(arrivals: readonly Arrival[], { seen }: Visitors): Readonly<Record<string, SeenCounts>> {
  const counts: Record<string, { -readonly [Key in keyof SeenCounts]: number }> = {}
  for (const [index, { ticket }] of arrivals.entries()) {
    const status = seen.get(ticketIdOf(index))?.status
    if (status === undefined) continue
    const count = (counts[ticket.queue] ??= { arrived: 0, waiting: 0, deploying: 0, playing: 0 })
    const { length } = ticket.players
    count.arrived += length
    if (status === 'SEARCHING') count.waiting += length
    if (status === 'MATCH_FOUND') count.deploying += length
    if (status === 'HOST_ASSIGNED') count.playing += length
  }
  return counts
}

async function come(arrivals: readonly Arrival[]): Promise<void> {
  const visitors = createVisitors(nextUrl, ending.signal)
  const startedAt = systemClock.now()
  const telling = setInterval(() => tell({ kind: 'seen', counts: countsOf(arrivals, visitors) }), TELL_EVERY_MS)
  const visits: Promise<void>[] = []
  for (const [index, { afterMs, ticket }] of arrivals.entries()) {
    const wait = startedAt + afterMs - systemClock.now()
    if (wait > 0) await systemClock.sleep(wait, ending.signal).catch(() => {})
    if (ending.signal.aborted) break
    visits.push(visitors.visit(ticketIdOf(index), ticket))
  }
  await Promise.all(visits)
  clearInterval(telling)
  tell({ kind: 'seen', counts: countsOf(arrivals, visitors) })
  tell({ kind: 'over', acknowledged: [...visitors.acknowledged], repeated: visitors.repeated() })
}

process.on('message', (order: PlayersOrder) => {
  if (order.kind === 'urls') urls = order.urls
  else if (order.kind === 'stop') ending.abort()
  else void come(order.arrivals)
})
// Ctrl-C sends a signal to all processes of a terminal. This one ignores it, because the demo's own process ends it in
// order.
process.on('SIGINT', () => {})
// Ends when the process that has started this one ends, because its result would be lost.
process.once('disconnect', () => process.exit())
tell({ kind: 'ready' })
