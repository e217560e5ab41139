import type { Awaitable } from '@muster/core/internal'
import type { Matchmaker } from '../matches/index.js'

/** The methods of a matchmaker that the ticket API uses and that may answer asynchronously. */
type Answering =
  | 'createTicket'
  | 'createTickets'
  | 'getTicket'
  | 'findPlayer'
  | 'notePresence'
  | 'cancelTicket'
  | 'acceptMatch'
  | 'declineMatch'
  | 'explain'
  | 'longestWaiting'
  | 'createMatch'
  | 'cooldownsOf'
  | 'forgive'
  | 'pauseQueue'
  | 'pausePool'
  | 'resultsSetAside'
  | 'repeatResult'
  | 'dropResult'
  | 'resumeQueue'
  | 'playersLeft'
  | 'serverReady'
  | 'playerCame'
  | 'isServerSecret'
  | 'isSecretOf'
  | 'registerServer'
  | 'isEnrolmentKey'
  | 'enrolServer'
  | 'revokeEnrolment'
  | 'reportServer'
  | 'joinKeys'
  | 'listedServers'
  | 'holdSeats'
  | 'followSeat'
  | 'releaseSeat'
  | 'seatsOf'
  | 'startServer'
  | 'drainServer'
  | 'stopServer'
  | 'createBackfill'
  | 'getBackfill'
  | 'updateBackfill'
  | 'cancelBackfill'
  | 'inspect'
  | 'estimateQueueWaits'

type Answers = {
  readonly [Name in Answering]: (
    ...input: Parameters<Matchmaker[Name]>
  ) => Awaitable<Awaited<ReturnType<Matchmaker[Name]>>>
}

/**
 * The part of a matchmaker that the ticket API uses. A matchmaker of this process answers at once; one that is spread
 * over several processes answers by promises, which reject with the errors that a `Matchmaker` throws.
 */
export interface TicketService extends Answers {
  readonly playerMayState: Matchmaker['playerMayState']
  readonly readsLatencies: Matchmaker['readsLatencies']
  readonly largestParty: Matchmaker['largestParty']
  readonly presenceWithinMs: Matchmaker['presenceWithinMs']
  readonly queueNames: Matchmaker['queueNames']
  readonly browserTerms: Matchmaker['browserTerms']
  readonly dateOf: Matchmaker['dateOf']
  /** Answers at once, from what it has heard so far. */
  readonly estimateWait: Matchmaker['estimateWait']
  /** Resolves, or rejects, as `Matchmaker.waitForChange`. */
  readonly waitForChange: Matchmaker['waitForChange']
  readonly stopMatch: Matchmaker['stopMatch']
  /** Resolves, or rejects, as `Matchmaker.waitForServerOrders`. */
  readonly waitForServerOrders: Matchmaker['waitForServerOrders']
  /** Answers at once, for a ticket that this service has given. */
  readonly joinToken: Matchmaker['joinToken']
}
