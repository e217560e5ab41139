import { EventEmitter } from 'eventemitter3'
import { warnThat } from '../redact.js'

/** An emitter for users, and the function that feeds it. */
export interface Events<Names extends object> {
  /** The emitter for users. Listeners may throw and may be async. */
  readonly emitter: EventEmitter<Names>
  emit<Name extends EventEmitter.EventNames<Names>>(name: Name, ...event: EventEmitter.EventArgs<Names, Name>): void
  /** Subscribes a listener. Returns a function that ends this subscription, and no other one of the same function. */
  on<Name extends EventEmitter.EventNames<Names>>(
    name: Name,
    listener: EventEmitter.EventListener<Names, Name>,
  ): () => void
}

/** A listener that failed. */
export interface ListenerProblem {
  readonly during: 'listener'
  /** The event to which the listener listened. */
  readonly event: string
  readonly error: unknown
}

/** Events, one of which reports problems. */
export interface WithProblems {
  problem: (problem: ListenerProblem) => void
}

type Listener = (...event: unknown[]) => unknown

/**
 * Creates events whose listeners cannot disturb the emitting code. `failed` receives the error that a listener throws,
 * or with which its promise rejects later.
 */
export function createEvents<Names extends object>(failed: (event: string, error: unknown) => void): Events<Names> {
  const careful = new CarefulEmitter(failed)
  const emitter: EventEmitter<Names> = careful as never
  return {
    emitter,
    emit: (name, ...event) => void emitter.emit(name, ...event),
    on: (name, listener) => careful.subscribe(name as string, listener as Listener),
  }
}

/**
 * Creates events like `createEvents`. The event `problem` reports listeners that failed. If it has no listener, or its
 * listener fails, a process warning is emitted.
 */
export function createEventsWithProblems<Names extends WithProblems>(): Events<Names> {
  const events: Events<WithProblems> = createEvents<WithProblems>((event, error) => {
    if (event === 'problem' || events.emitter.listenerCount('problem') === 0)
      warnThat(`a listener of the event '${event}'`)(error)
    else events.emit('problem', { during: 'listener', event, error })
  })
  return events as unknown as Events<Names>
}

/**
 * Calls a function of a user, whose result nobody waits for. Never throws.
 * @param failed receives the error that the function throws, or with which its promise rejects later.
 */
export function callSafely(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const result = call()
    // The promise may be one of another library.
    if (isThenable(result)) result.then(undefined, failed)
  } catch (error) {
    failed(error)
  }
}

class CarefulEmitter extends EventEmitter<Record<string, Listener>> {
  readonly #failed: (event: string, error: unknown) => void
  /** The wrapper of each listener, by event and listener. It is forgotten with the listener. */
  readonly #careful = new Map<string, WeakMap<Listener, Listener>>()

  constructor(failed: (event: string, error: unknown) => void) {
    super()
    this.#failed = failed
  }

  subscribe(name: string, listener: Listener): () => void {
    const own = this.#guard(name, listener)
    super.on(name, own)
    return () => void super.removeListener(name, own)
  }

  override on(name: string, listener: Listener, context?: unknown): this {
    return super.on(name, this.#carefully(name, listener), context)
  }

  override addListener(name: string, listener: Listener, context?: unknown): this {
    return this.on(name, listener, context)
  }

  override once(name: string, listener: Listener, context?: unknown): this {
    return super.once(name, this.#carefully(name, listener), context)
  }

  override removeListener(name: string, listener?: Listener, context?: unknown, once?: boolean): this {
    const careful = listener && this.#careful.get(name)?.get(listener)
    return super.removeListener(name, careful ?? listener, context, once)
  }

  override off(name: string, listener?: Listener, context?: unknown, once?: boolean): this {
    return this.removeListener(name, listener, context, once)
  }

  #carefully(name: string, listener: Listener): Listener {
    const known = this.#careful.get(name) ?? new WeakMap<Listener, Listener>()
    this.#careful.set(name, known)
    const careful = known.get(listener) ?? this.#guard(name, listener)
    known.set(listener, careful)
    return careful
  }

  #guard(name: string, listener: Listener): Listener {
    if (typeof listener !== 'function') throw new TypeError(`the listener of the event '${name}' must be a function`)
    const fail = (error: unknown) => this.#failed(name, error)
    return function careful(this: unknown, ...event: unknown[]): void {
      callSafely(() => listener.apply(this, event), fail)
    }
  }
}

const isThenable = (result: unknown): result is PromiseLike<unknown> =>
  typeof result === 'object' && result !== null && 'then' in result && typeof result.then === 'function'
