import { EventEmitter } from 'eventemitter3'

/** An emitter for users, and how to feed it. */
export interface Events<Names extends object> {
  readonly emitter: EventEmitter<Names>
  /** A listener that throws becomes a process warning, never the failure of what it listens to. */
  emit<Name extends EventEmitter.EventNames<Names>>(name: Name, ...event: EventEmitter.EventArgs<Names, Name>): void
}

export function createEvents<Names extends object>(): Events<Names> {
  const emitter = new EventEmitter<Names>()
  return {
    emitter,
    emit: (name, ...event) => {
      try {
        emitter.emit(name, ...event)
      } catch (error) {
        process.emitWarning(`a listener of the event '${String(name)}' threw: ${String(error)}`, 'MusterWarning')
      }
    },
  }
}
