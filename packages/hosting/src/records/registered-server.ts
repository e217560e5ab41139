import type { MatchReport, ServerRegistration } from './server-reports.js'

/** An instance's report about a match. `isUnmet`: it wants seats filled, for which not everything was done yet. */
export type ReportedMatch = MatchReport & { isUnmet: boolean }

export const NO_REPORTS: ReadonlyMap<string, ReportedMatch> = new Map()

/** The reported state of a registered server. It is not stored: a later process receives it anew. */
export class RegisteredServer {
  registration: ServerRegistration
  /** Earlier instances, with the epoch milliseconds until which their orders are to drain. Rare. */
  replaced: Map<string, number> | undefined = undefined
  /** The number of the last report. -1 before the first report of an instance. */
  seq = -1
  /** The version of the server's orders. */
  version: number
  /** Epoch milliseconds, also below. */
  registeredAt: number
  seenAt: number
  /** Since when the server counts as lost. Undefined while it reports. */
  lostAt: number | undefined = undefined
  /** Number of consecutive reports with `healthy: false`. */
  unhealthy = 0
  /** The last report of the server's instance about each match. */
  said: ReadonlyMap<string, ReportedMatch> = NO_REPORTS
  /** Ends the pending long poll. */
  waiter: (() => void) | undefined = undefined

  constructor(registration: ServerRegistration, now: number) {
    this.registration = registration
    this.version = Math.floor(now)
    this.registeredAt = now
    this.seenAt = now
  }

  /** Called when another process has registered. Discards everything known about the previous process. */
  replaceInstance(registration: ServerRegistration, now: number, drainsUntil: number): void {
    const replaced = new Map([...(this.replaced ?? [])].filter(([, until]) => now < until))
    replaced.set(this.registration.instance, drainsUntil)
    replaced.delete(registration.instance)
    this.replaced = replaced
    this.registration = registration
    this.registeredAt = now
    this.seq = -1
    this.said = NO_REPORTS
  }

  /**
   * Called when orders have changed. The new version differs from those of all other orders, including those of
   * earlier processes.
   */
  raiseVersion(now: number): void {
    this.version = Math.max(this.version + 1, Math.floor(now))
    this.waiter?.()
  }
}
