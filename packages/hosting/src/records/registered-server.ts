import type { MatchReport, ServerRegistration } from './server-reports.js'

/** The last report about a match. `isUnmet` is true if `GameServerListener.seatsWanted` must be repeated. */
export type ReportedMatch = MatchReport & { isUnmet: boolean }

export const NO_REPORTS: ReadonlyMap<string, ReportedMatch> = new Map()

/** Maximum number of remembered replaced instances (our choice). Those replaced earlier get an error at once. */
const MOST_REPLACED = 100

/** What a registered server has reported. It is not stored, because the server reports again after a restart. */
export class RegisteredServer {
  registration: ServerRegistration
  /** Ids of replaced instances, with the epoch milliseconds until which they are ordered to drain. */
  replaced: Map<string, number> | undefined = undefined
  /** Number of the last report. -1 before the first report of an instance. */
  seq = -1
  version: number
  /** Times of the registration and of the last report, in epoch milliseconds. */
  registeredAt: number
  seenAt: number
  /** Epoch milliseconds since when the server is lost. Undefined while it reports. */
  lostAt: number | undefined = undefined
  /** Number of consecutive reports with `healthy: false`. */
  unhealthy = 0
  /** The last report of the current instance about each match. */
  said: ReadonlyMap<string, ReportedMatch> = NO_REPORTS
  /** Ends the server's wait for orders. */
  waiter: (() => void) | undefined = undefined

  constructor(registration: ServerRegistration, now: number) {
    this.registration = registration
    this.version = Math.floor(now)
    this.registeredAt = now
    this.seenAt = now
  }

  /** Called when another process has registered. Forgets the reports of the previous process. */
  replaceInstance(registration: ServerRegistration, now: number, drainsUntil: number): void {
    const replaced = (this.replaced ??= new Map<string, number>())
    // The oldest come first. A hostile server may register ever new instances, so each call must be quick.
    for (const [instance, until] of replaced) {
      if (now < until && replaced.size < MOST_REPLACED) break
      replaced.delete(instance)
    }
    replaced.set(this.registration.instance, drainsUntil)
    replaced.delete(registration.instance)
    this.registration = registration
    this.registeredAt = now
    this.seq = -1
    this.said = NO_REPORTS
  }

  /**
   * Called when the orders have changed. The new version is at least the current time, so it exceeds those before a
   * restart.
   */
  raiseVersion(now: number): void {
    this.version = Math.max(this.version + 1, Math.floor(now))
    this.waiter?.()
  }
}
