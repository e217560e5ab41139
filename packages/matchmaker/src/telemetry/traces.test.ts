import { context, ROOT_CONTEXT, SpanStatusCode, trace, type Context, type ContextManager } from '@opentelemetry/api'
import { AlwaysOffSampler, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import { assignment, millisecondsOf, setUp, START, ticket } from './telemetry.fixture.js'

const match = { matchId: 'm1', queue: 'duel' }
const [ann, ben] = [ticket('ann'), ticket('ben', { createdAt: START + 500 })]

const shown = ({ name, startTime, endTime, attributes, status, events }: ReadableSpan) => ({
  name,
  from: millisecondsOf(startTime),
  to: millisecondsOf(endTime),
  attributes,
  failed: status.code === SpanStatusCode.ERROR ? status.message : undefined,
  events: events.map((event) => `${millisecondsOf(event.time)} ${event.name}`),
})

test('a ticket is a span from its creation to its end, and a match links to the spans of its tickets', async () => {
  const { clock, emit, spans } = setUp({ attributes: { region: 'eu' } })
  emit('ticketCreated', { ticket: ann })
  emit('ticketCreated', { ticket: ben })
  await clock.advance(1000)
  emit('matchFound', { ...match, tickets: [ann, ben], expansionMs: 0 })
  await clock.advance(100)
  emit('deploymentCreated', { ...match, requestId: 'r1' })
  await clock.advance(5000)
  emit('deploymentReady', { ...match, requestId: 'r1', startMs: 5000, unseenMs: 0 })
  await clock.advance(900)
  const assigned = [ann, ben].map((one) => ({ ...one, queue: 'duel', matchId: 'm1', assignedAt: clock.now() }))
  emit('serverAssigned', { ...match, requestId: 'r1', assignment, tickets: assigned })

  const common = { region: 'eu', 'muster.queue': 'duel' }
  const ofStart = { region: 'eu', 'muster.request.id': 'r1' }
  const ofMatch = {
    ...common,
    'muster.match.id': 'm1',
    'muster.tickets': 2,
    'muster.expansion': 0,
    'muster.outcome': 'assigned',
  }
  const ofTicket = (id: string) => ({
    ...common,
    'muster.ticket.id': id,
    'muster.players': 1,
    'muster.outcome': 'assigned',
  })
  const found = ['1000 match found']
  expect(spans().map(shown)).toEqual([
    { name: 'muster.deployment.start', from: 1100, to: 6100, attributes: ofStart, failed: undefined, events: [] },
    { name: 'muster.match', from: 1000, to: 7000, attributes: ofMatch, failed: undefined, events: [] },
    { name: 'muster.ticket', from: 0, to: 7000, attributes: ofTicket('ann'), failed: undefined, events: found },
    { name: 'muster.ticket', from: 500, to: 7000, attributes: ofTicket('ben'), failed: undefined, events: found },
  ])
  const [start, ofBoth, ...tickets] = spans()
  expect(start?.parentSpanContext?.spanId).toBe(ofBoth?.spanContext().spanId)
  expect(ofBoth?.parentSpanContext).toBeUndefined()
  expect(ofBoth?.links.map((link) => link.context.spanId)).toEqual(tickets.map((span) => span.spanContext().spanId))
})

test('the span of a match that loses its last ticket has failed, and the span of the ticket continues', async () => {
  const { clock, emit, spans, end } = setUp()
  emit('ticketCreated', { ticket: ann })
  emit('ticketCreated', { ticket: ben })
  emit('matchFound', { ...match, tickets: [ann, ben], expansionMs: 0 })
  emit('deploymentCreated', { ...match, requestId: 'r1' })
  await clock.advance(3000)
  emit('ticketRequeued', { ...match, ticket: ann, reason: 'failed' })
  expect(spans()).toEqual([])
  emit('cancelled', { ticket: { ...ben, matchId: 'm1', cancelledAt: clock.now() }, reason: 'attempts' })
  expect(spans().map(shown)).toMatchObject([
    { name: 'muster.deployment.start', to: 3000, failed: 'attempts' },
    { name: 'muster.match', to: 3000, failed: 'attempts', attributes: { 'muster.outcome': 'attempts' } },
    { name: 'muster.ticket', to: 3000, failed: 'attempts', attributes: { 'muster.ticket.id': 'ben' } },
  ])
  await clock.advance(1000)
  emit('expired', { ticket: { ...ann, cancelledAt: clock.now() } })
  expect(spans().slice(3).map(shown)).toMatchObject([
    {
      name: 'muster.ticket',
      to: 4000,
      failed: undefined,
      events: ['0 match found', '3000 requeued'],
      attributes: { 'muster.outcome': 'expired' },
    },
  ])
  end()
  expect(spans()).toHaveLength(4)
})

test('the span of a match stays open for tickets that join later', () => {
  const { emit, spans } = setUp()
  emit('ticketCreated', { ticket: ann })
  emit('ticketCreated', { ticket: ben })
  emit('matchFound', { ...match, tickets: [ann], expansionMs: 0 })
  emit('backfillJoined', { ...match, backfillId: 'f1', tickets: [ben] })
  emit('cancelled', { ticket: { ...ann, matchId: 'm1', cancelledAt: START }, reason: 'cancelled' })
  expect(spans().map(({ name }) => name)).toEqual(['muster.ticket'])
  emit('serverAssigned', { ...match, requestId: 'r1', assignment, tickets: [{ ...ben, assignedAt: START + 600 }] })
  const [, found] = spans()
  expect(found?.name).toBe('muster.match')
  expect(found?.links).toHaveLength(2)
})

test('open spans end when the instrumentation ends', () => {
  const { emit, spans, end } = setUp()
  emit('ticketCreated', { ticket: ann })
  emit('matchFound', { ...match, tickets: [ann], expansionMs: 0 })
  emit('deploymentCreated', { ...match, requestId: 'r1' })
  end()
  expect(spans().map(({ name }) => name)).toEqual(['muster.deployment.start', 'muster.match', 'muster.ticket'])
  emit('ticketCreated', { ticket: ben })
  expect(spans()).toHaveLength(3)
})

test('the span of a ticket belongs to the trace that created the ticket, and a match has a separate trace', () => {
  const { emit, spans } = setUp()
  const remote = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
  context.setGlobalContextManager(stackOf())
  try {
    context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () => {
      emit('ticketCreated', { ticket: ann })
      emit('matchFound', { ...match, tickets: [ann], expansionMs: 0 })
    })
  } finally {
    context.disable()
  }
  emit('serverAssigned', { ...match, requestId: 'r1', assignment, tickets: [{ ...ann, assignedAt: START + 1 }] })
  const [found, created] = spans()
  expect(created?.spanContext().traceId).toBe(remote.traceId)
  expect(created?.parentSpanContext?.spanId).toBe(remote.spanId)
  expect(found?.spanContext().traceId).not.toBe(remote.traceId)
})

test('spans that are not sampled are not kept in memory', () => {
  const { emit, spans } = setUp({ sampler: new AlwaysOffSampler() })
  emit('ticketCreated', { ticket: ann })
  emit('matchFound', { ...match, tickets: [ann], expansionMs: 0 })
  emit('deploymentCreated', { ...match, requestId: 'r1' })
  emit('serverAssigned', { ...match, requestId: 'r1', assignment, tickets: [ann] })
  expect(spans()).toEqual([])
})

/** The minimal context manager that `context.with` needs. */
function stackOf(): ContextManager {
  const stack: Context[] = []
  const manager: ContextManager = {
    active: () => stack.at(-1) ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => {
      stack.push(active)
      try {
        return work.call(self as never, ...args)
      } finally {
        stack.pop()
      }
    },
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}
