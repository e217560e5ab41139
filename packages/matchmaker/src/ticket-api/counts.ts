/** Counts of the ticket API since it was created; for metrics. */
export interface TicketApiCounts {
  /** Reported latencies that were ignored because even light takes longer. */
  readonly latenciesImpossible: number
  /** Reported latencies that were ignored because there is no such beacon. */
  readonly latenciesUnknown: number
  /** Latencies that were estimated from the distance, because none was reported or believed. */
  readonly latenciesEstimated: number
  /** Long polls and event streams that are open now. */
  readonly waiting: number
  /** Groups that exist now. */
  readonly groups: number
}
