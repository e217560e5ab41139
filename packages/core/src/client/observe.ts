import type { Clock } from '../clock.js'
import { MusterError } from './errors.js'
import type { EventSink } from './events.js'
import { timeSpent } from './progress.js'
import { factsOf, type Request } from './request.js'
import type { Answer } from './transport.js'

/** Performs an attempt, and emits an event at its beginning and at its end if there are listeners. */
export function observe(
  request: Request,
  work: () => Promise<Answer>,
  events: EventSink,
  clock: Clock,
): Promise<Answer> {
  return events.listens('request') || events.listens('response') ? observed(request, work, events, clock) : work()
}

async function observed(
  request: Request,
  work: () => Promise<Answer>,
  events: EventSink,
  clock: Clock,
): Promise<Answer> {
  const { progress, priority, template: path } = request
  const { method } = request.operation
  const attempt = { ...factsOf(request), attempt: progress.attempt, method, path }
  const began = clock.now()
  const ended = () => clock.now() - began
  events.emit('request', { ...attempt, priority, queuedMs: timeSpent(progress, began).queued })
  try {
    const answer = await work()
    events.emit('response', {
      ...attempt,
      status: answer.status,
      error: undefined,
      durationMs: ended(),
      bytes: answer.bytes,
    })
    return answer
  } catch (error) {
    const name = error instanceof MusterError ? error.name : 'Aborted'
    events.emit('response', { ...attempt, status: undefined, error: name, durationMs: ended(), bytes: 0 })
    throw error
  }
}
