import type { EventEmitter } from 'eventemitter3'
import type { ClientConfig } from './config.js'
import { createDeadlines } from './deadlines.js'
import { decode, decodeGone } from './decode.js'
import { createEvents, type ClientEvents } from './events.js'
import { createFlights, type Flights } from './flights.js'
import { createLifetime, type Lifetime } from './lifetime.js'
import { observe } from './observe.js'
import { createQueues, type Queues } from './queues.js'
import type { Request } from './request.js'
import { withRetry } from './retry.js'
import { send } from './send.js'
import { createTransport } from './transport.js'

/** Sends encoded requests to the service and returns values. */
export interface Pipeline {
  readonly flights: Flights
  readonly lifetime: Lifetime
  readonly queues: Queues
  readonly events: EventEmitter<ClientEvents>
  /** Waits at most `timeoutMs` for calls under way, then closes the connections. */
  close(timeoutMs: number): Promise<void>
}

/** Combines the hops after the call itself: retry → schedule → send → decode. */
export function createPipeline(config: ClientConfig): Pipeline {
  const { clock } = config
  const { emitter, sink: events } = createEvents()
  const lifetime = createLifetime()
  const deadlines = createDeadlines(clock)
  const queues = createQueues(config, events)
  const transport = createTransport(config)
  const hops = { ...config, events, transport, throttled: queues.throttled, gone: decodeGone }

  const attempt = async (request: Request) => {
    const answer = await queues.run(request, (slot) => observe(request, () => send(request, slot, hops), events, clock))
    if (answer.status !== 429) queues.accepted(request)
    return decode(request, answer, clock, events)
  }
  const perform = (request: Request) => withRetry(request, attempt, hops)

  return {
    flights: createFlights({ perform, lifetime, clock, deadlines }),
    lifetime,
    queues,
    events: emitter,
    close: async (timeoutMs) => {
      const closed = new AbortController()
      clock.sleep(timeoutMs, closed.signal).then(deadlines.abandonAll, () => {})
      await lifetime.close()
      closed.abort()
      await transport.close()
    },
  }
}
