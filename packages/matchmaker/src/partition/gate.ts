import { linkedSignal, manyWaitOn } from '@muster/core/runtime'
import type { CallOptions } from '@muster/core'
import { MatchmakerClosed } from '../errors.js'
import type { DeploymentService, Journal } from '@muster/servers'
import type { Ledger } from '../tickets/ticket-ledger.js'

/**
 * What a leader does to the world goes through its gate. Once the gate is shut, nothing leaves any more, and what comes
 * in is not heard: a call under way never answers its caller inside, so that nothing follows from it.
 */
export interface Gate {
  readonly isShut: () => boolean
  /** Aborts calls under way. The promises of `promised` reject. */
  shut(): void
  /** @throws {MatchmakerClosed} once the gate is shut */
  check(): void
  /**
   * For a caller outside: what the promise brings, or the rejection once the gate is shut.
   * @throws {MatchmakerClosed}
   */
  promised<Value>(promise: Promise<Value>): Promise<Value>
  service(service: DeploymentService): DeploymentService
  journal(journal: Journal): Journal
  ledger(ledger: Ledger): Ledger
}

/** A new one for each caller: a promise keeps all that wait for it. */
const never = () => new Promise<never>(() => {})

export function createGate(): Gate {
  const shutting = manyWaitOn()
  const { signal } = shutting
  const closed = () => new MatchmakerClosed('the matchmaker was abandoned: this process does not lead any more')

  /** What the call brings, unless the gate is shut by then. */
  const heard = <Value>(call: () => Value | Promise<Value>): Promise<Value> => {
    if (signal.aborted) return never()
    return new Promise((resolve, reject) => {
      const called = call()
      if (!(called instanceof Promise)) return resolve(called)
      called.then(
        (value) => signal.aborted || resolve(value),
        (error: Error) => signal.aborted || reject(error),
      )
    })
  }

  const gated =
    <Input, Output>(call: (input: Input, options?: CallOptions) => Promise<Output>) =>
    (input: Input, options: CallOptions = {}): Promise<Output> =>
      heard(async () => {
        const linked = linkedSignal(signal, options.signal)
        try {
          return await call(input, { ...options, signal: linked.signal })
        } finally {
          linked.unlink()
        }
      })

  return {
    isShut: () => signal.aborted,
    shut: () => shutting.abort(closed()),
    check: () => {
      if (signal.aborted) throw closed()
    },
    promised: (promise) =>
      new Promise((resolve, reject) => {
        const shut = () => reject(closed())
        if (signal.aborted) return shut()
        signal.addEventListener('abort', shut, { once: true })
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', shut))
      }),

    service: (service) => ({
      create: gated((input, options) => service.create(input, options)),
      get: gated((input, options) => service.get(input, options)),
      stop: gated((input, options) => service.stop(input, options)),
      list: gated((input, options) => service.list(input, options)),
    }),
    journal: (journal) => ({
      resumes: journal.resumes,
      append: (entry) => {
        if (signal.aborted) return never()
        const appended = journal.append(entry)
        return appended instanceof Promise ? heard(() => appended) : appended
      },
      open: (problem) => heard(() => journal.open(problem)),
      close: () => (signal.aborted ? undefined : journal.close?.()),
    }),
    ledger: (ledger) => ({
      changed: (ticket) => {
        if (!signal.aborted) ledger.changed(ticket)
      },
      served: (playerIds) => {
        if (!signal.aborted) ledger.served(playerIds)
      },
      cooldownChanged: (...change) => {
        if (!signal.aborted) ledger.cooldownChanged(...change)
      },
      backfillChanged: (backfillId, text) => {
        if (!signal.aborted) ledger.backfillChanged(backfillId, text)
      },
    }),
  }
}
