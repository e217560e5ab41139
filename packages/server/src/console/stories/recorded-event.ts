import type { CancelReason, ReturnReason, ServerFailure, StopReason } from '@muster/matchmaker'

/** An event as it is remembered: ids and reasons, and no address of a player. Times are epoch milliseconds. */
export type RecordedEvent = { readonly at: number } & (
  | {
      readonly what: 'created'
      readonly ticketId: string
      readonly playerIds: readonly string[]
      readonly queues: readonly string[]
    }
  | (OfTickets & { readonly what: 'found'; readonly expansionMs: number })
  | (OfTickets & { readonly what: 'joined' })
  | (OfTicket & { readonly what: 'accepted'; readonly playerIds: readonly string[] })
  | (OfTicket & { readonly what: 'returned'; readonly reason: ReturnReason })
  | {
      readonly what: 'cancelled'
      readonly ticketId: string
      readonly matchId: string | undefined
      readonly reason: CancelReason
    }
  | (OfServer & { readonly what: 'deployed' })
  | (OfServer & { readonly what: 'ready'; readonly startMs: number })
  | (OfTickets &
      OfServer & {
        readonly what: 'assigned'
        readonly where: string | undefined
        /** Name and address of the server, by which it is found. */
        readonly hosts: readonly string[]
      })
  | (OfMatch & { readonly what: 'left'; readonly playerIds: readonly string[]; readonly remaining: number })
  | (OfServer & {
      readonly what: 'failed'
      readonly reason: ServerFailure
      readonly detail: string | undefined
    })
  | (OfServer & { readonly what: 'ended'; readonly reason: StopReason })
  | { readonly what: 'problem'; readonly matchId: string; readonly text: string }
)

interface OfMatch {
  readonly matchId: string
  readonly queue: string
}
interface OfTicket extends OfMatch {
  readonly ticketId: string
}
interface OfTickets extends OfMatch {
  readonly ticketIds: readonly string[]
}
interface OfServer extends OfMatch {
  readonly requestId: string
}

/** The tickets that an event names. */
export const ticketsOf = (event: RecordedEvent): readonly string[] =>
  'ticketIds' in event ? event.ticketIds : 'ticketId' in event ? [event.ticketId] : NONE

const NONE: readonly string[] = []

export const matchOf = (event: RecordedEvent): string | undefined => ('matchId' in event ? event.matchId : undefined)
