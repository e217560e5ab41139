import { EventEmitter } from 'eventemitter3'
import type { Assignment } from './allocation/assignment.js'
import type { CancelReason, ReturnReason, Ticket } from './tickets/ticket.js'

/**
 * Why a server was stopped: what made the tickets return; or `ended`, it ended by itself; `stopped`, by
 * `stopMatch`; `closed`, by `close`; `restarted`, it was found in the journal and nobody plays on it;
 * `twin`, its match had another one.
 */
export type StopReason = ReturnReason | 'ended' | 'closed' | 'restarted' | 'twin'

/** Events of a match say which. None holds a player's address. */
export interface MatchEvent {
  readonly matchId: string
  readonly queue: string
}

/** What the matchmaker was doing when something went wrong. It goes on by itself. */
export type Activity = 'create' | 'find' | 'stop' | 'list' | 'status' | 'journal' | 'locate' | 'tick'

export interface MatchmakerEvents {
  ticketCreated: { readonly ticket: Ticket }
  /** Tickets were put together; a server is deployed for them next. */
  matchFound: MatchEvent & { readonly tickets: readonly Ticket[] }
  /** The service accepted the deployment. */
  deploymentCreated: MatchEvent & { readonly requestId: string }
  /** The server is READY, and the tickets say where it is. */
  assigned: MatchEvent & { readonly requestId: string; readonly assignment: Assignment; readonly tickets: readonly Ticket[] }
  /** A ticket searches again, with its waiting time kept. */
  returned: MatchEvent & { readonly ticket: Ticket; readonly reason: ReturnReason }
  cancelled: { readonly ticket: Ticket; readonly reason: Exclude<CancelReason, 'expired'> }
  expired: { readonly ticket: Ticket }
  /** The service confirmed that the server is stopped, or that it was gone already. */
  deploymentStopped: MatchEvent & { readonly requestId: string; readonly reason: StopReason }
  /** Something went wrong that will be tried again or was dealt with; worth a line in the log. */
  problem: {
    readonly during: Activity
    readonly matchId?: string | undefined
    readonly requestId?: string | undefined
    readonly error: unknown
  }
}

export type EventName = keyof MatchmakerEvents
export type Listener<Name extends EventName> = (event: MatchmakerEvents[Name]) => void

export interface Events {
  emit<Name extends EventName>(name: Name, event: MatchmakerEvents[Name]): void
  /** Gives a function that ends the subscription. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
}

/** A listener that fails becomes a process warning: neither the matchmaker nor the other listeners notice. */
export function createEvents(): Events {
  const emitter = new EventEmitter<{ [Name in EventName]: (event: MatchmakerEvents[Name]) => void }>()
  const warn = (name: string, error: unknown) =>
    process.emitWarning(`a listener of the event '${name}' failed: ${String(error)}`, 'MusterWarning')

  return {
    emit: (name, event) => void emitter.emit(name, ...([event] as never)),
    on: (name, listener) => {
      const careful = (event: MatchmakerEvents[typeof name]) => {
        try {
          // An async listener fails later.
          Promise.resolve(listener(event) as unknown).catch((error: unknown) => warn(name, error))
        } catch (error) {
          warn(name, error)
        }
      }
      emitter.on(name, careful as never)
      return () => void emitter.off(name, careful as never)
    },
  }
}
