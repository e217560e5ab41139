import {
  context,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { type Clock, dateOf } from '@muster/core/clock'
import type { Ticket } from '../tickets/index.js'
import { type Observed, queueOf } from './instruments.js'

/** The trace of a match, from when it is found until its players have the address or all of them have left. */
interface MatchTrace {
  readonly span: Span
  readonly context: Context
  /** Ids of the match's tickets that still wait for its server. */
  readonly waiting: Set<string>
  /** The span of the server's start; undefined once it has started. */
  starting: Span | undefined
}

/**
 * Creates one trace for each ticket, as a child of the trace that called `createTicket`. Creates one for each match,
 * which links to the traces of its tickets. Spans that are not sampled are not kept. Returns a function that stops the
 * tracing and ends all open spans.
 */
export function traceEvents({ on }: Observed, tracer: Tracer, clock: Clock, common: Attributes): () => void {
  const tickets = new Map<string, Span>()
  const matches = new Map<string, MatchTrace>()

  const endTicket = ({ id }: Ticket, outcome: string, at: number | undefined) => {
    const span = tickets.get(id)
    if (span === undefined) return
    tickets.delete(id)
    span.setAttribute('muster.outcome', outcome)
    if (outcome === 'attempts') span.setStatus({ code: SpanStatusCode.ERROR, message: outcome })
    span.end(dateOf(clock, at))
  }

  const endMatch = (matchId: string, failure: string | undefined) => {
    const match = matches.get(matchId)
    if (match === undefined) return
    matches.delete(matchId)
    const { span, starting } = match
    const now = dateOf(clock)
    span.setAttribute('muster.outcome', failure ?? 'assigned')
    for (const open of starting === undefined ? [span] : [starting, span]) {
      if (failure !== undefined) open.setStatus({ code: SpanStatusCode.ERROR, message: failure })
      open.end(now)
    }
  }

  /** Removes a ticket from a match's trace. A match without waiting tickets has failed, even if its server starts. */
  const leave = (ticket: Ticket, matchId: string | undefined, reason: string) => {
    const match = matches.get(matchId ?? '')
    if (match === undefined || matchId === undefined) return
    match.waiting.delete(ticket.id)
    if (match.waiting.size === 0) endMatch(matchId, reason)
  }

  const tellFound = (found: readonly Ticket[], matchId: string, now: number) => {
    for (const { id } of found) tickets.get(id)?.addEvent('match found', { 'muster.match.id': matchId }, now)
  }
  const linksTo = (of: readonly Ticket[]): Link[] =>
    of.flatMap(({ id }) => {
      const span = tickets.get(id)
      return span === undefined ? [] : [{ context: span.spanContext() }]
    })

  const subscriptions = [
    on('ticketCreated', ({ ticket }) => {
      const attributes = {
        ...common,
        'muster.queue': queueOf(ticket),
        'muster.ticket.id': ticket.id,
        'muster.players': ticket.players.length,
      }
      const span = tracer.startSpan(
        'muster.ticket',
        { attributes, startTime: dateOf(clock, ticket.createdAt) },
        context.active(),
      )
      if (span.isRecording()) tickets.set(ticket.id, span)
    }),

    on('matchFound', ({ matchId, queue, tickets: found, expansionMs }) => {
      const now = dateOf(clock)
      tellFound(found, matchId, now)
      const attributes = {
        ...common,
        'muster.queue': queue,
        'muster.match.id': matchId,
        'muster.tickets': found.length,
        'muster.expansion': expansionMs / 1000,
      }
      const span = tracer.startSpan('muster.match', { attributes, startTime: now, root: true, links: linksTo(found) })
      if (!span.isRecording()) return
      const waiting = new Set(found.map(({ id }) => id))
      matches.set(matchId, { span, context: trace.setSpan(context.active(), span), waiting, starting: undefined })
    }),

    on('backfillJoined', ({ matchId, tickets: found }) => {
      tellFound(found, matchId, dateOf(clock))
      const match = matches.get(matchId)
      match?.span.addLinks(linksTo(found))
      for (const { id } of found) match?.waiting.add(id)
    }),

    on('deploymentCreated', ({ matchId, requestId }) => {
      const match = matches.get(matchId)
      if (match === undefined) return
      const attributes = { ...common, 'muster.request.id': requestId }
      match.starting = tracer.startSpan(
        'muster.deployment.start',
        { attributes, startTime: dateOf(clock) },
        match.context,
      )
    }),

    on('deploymentReady', ({ matchId }) => {
      const match = matches.get(matchId)
      match?.starting?.end(dateOf(clock))
      if (match !== undefined) match.starting = undefined
    }),

    on('serverAssigned', ({ matchId, tickets: assigned }) => {
      endMatch(matchId, undefined)
      for (const ticket of assigned) endTicket(ticket, 'assigned', ticket.assignedAt)
    }),

    on('ticketRequeued', ({ matchId, ticket, reason }) => {
      tickets.get(ticket.id)?.addEvent('requeued', { 'muster.reason': reason }, dateOf(clock))
      leave(ticket, matchId, reason)
    }),
    on('cancelled', ({ ticket, reason }) => {
      leave(ticket, ticket.matchId, reason)
      endTicket(ticket, reason, ticket.cancelledAt)
    }),
    on('expired', ({ ticket }) => endTicket(ticket, 'expired', ticket.cancelledAt)),
  ]

  return () => {
    for (const unsubscribe of subscriptions) unsubscribe()
    for (const matchId of matches.keys()) endMatch(matchId, 'unobserved')
    for (const span of tickets.values()) span.end(dateOf(clock))
    tickets.clear()
  }
}
