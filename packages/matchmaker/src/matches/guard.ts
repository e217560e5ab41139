import { Unavailable } from '../errors.js'
import type { Matchmaker } from './matchmaker.js'

/**
 * What a method of a matchmaker needs and does:
 * - `command`: changes tickets, matches, players or queues, so it needs to know what was before;
 * - `read`: tells of them, so it needs to know that too;
 * - `free`: does neither, or says itself what it does not know.
 */
type Kind = 'command' | 'read' | 'free'

const KINDS: Readonly<Record<keyof Matchmaker, Kind>> = {
  createTicket: 'command',
  createTickets: 'command',
  createMatch: 'command',
  cancelTicket: 'command',
  acceptMatch: 'command',
  declineMatch: 'command',
  playersLeft: 'command',
  stopMatch: 'command',
  registerServer: 'command',
  enrolServer: 'command',
  revokeEnrolment: 'command',
  reportServer: 'command',
  holdSeats: 'command',
  releaseSeat: 'command',
  startServer: 'command',
  drainServer: 'command',
  stopServer: 'command',
  createBackfill: 'command',
  updateBackfill: 'command',
  cancelBackfill: 'command',
  importTickets: 'command',
  forgive: 'command',
  importCooldowns: 'command',
  pauseQueue: 'command',
  resumeQueue: 'command',
  pausePool: 'command',
  repeatResult: 'command',
  dropResult: 'command',

  getTicket: 'read',
  findPlayer: 'read',
  waitForChange: 'read',
  explain: 'read',
  getBackfill: 'read',
  longestWaiting: 'read',
  estimateWait: 'read',
  estimateQueueWaits: 'read',
  exportTickets: 'read',
  cooldownsOf: 'read',
  exportCooldowns: 'read',
  serverReady: 'read',
  playerCame: 'read',
  isServerSecret: 'read',
  isEnrolmentKey: 'read',
  isSecretOf: 'read',
  waitForServerOrders: 'read',
  joinKeys: 'read',
  listedServers: 'read',
  followSeat: 'read',
  seatsOf: 'read',
  inspect: 'read',
  resultsSetAside: 'read',

  playerMayState: 'free',
  readsLatencies: 'free',
  largestParty: 'free',
  presenceWithinMs: 'free',
  queueNames: 'free',
  notePresence: 'free',
  joinToken: 'free',
  browserTerms: 'free',
  dateOf: 'free',
  reconfigure: 'free',
  hint: 'free',
  webhook: 'free',
  on: 'free',
  tick: 'free',
  ready: 'free',
  start: 'free',
  stop: 'free',
  survey: 'free',
  close: 'free',
}

/** Of these, the promise rejects. */
const PROMISED: ReadonlySet<string> = new Set<keyof Matchmaker>([
  'stopMatch',
  'waitForChange',
  'reportServer',
  'enrolServer',
  'revokeEnrolment',
  'drainServer',
  'releaseSeat',
  'startServer',
  'stopServer',
  'waitForServerOrders',
])

export interface Guards {
  /** Called before each command and read. @throws instead of it */
  readonly before: () => void
  readonly command?: {
    /** Called before each command, in addition. @throws instead of it */
    readonly before: () => void
    /** Called after each command, whether or not it has thrown. */
    readonly after: () => void
    /** Called after each command that has not thrown. @throws if what it did cannot be kept */
    readonly done: () => void
  }
}

type Method = (...given: readonly unknown[]) => unknown

/** The matchmaker with guards around its methods. */
export function guarded(matchmaker: Matchmaker, { before, command }: Guards): Matchmaker {
  const keptOnce = (result: Promise<unknown>): Promise<unknown> => {
    const kept = result.then((value) => {
      command?.done()
      return value
    })
    // Callers that do not await the promise get no unhandled rejection.
    kept.catch(() => {})
    return kept
  }
  const reading =
    (method: Method): Method =>
    (...given) => {
      before()
      return method(...given)
    }
  const commanding =
    (method: Method): Method =>
    (...given) => {
      command?.before()
      before()
      let result: unknown
      try {
        result = method(...given)
      } finally {
        command?.after()
      }
      if (result instanceof Promise) return keptOnce(result)
      command?.done()
      return result
    }
  const promised =
    (method: Method): Method =>
    async (...given) =>
      method(...given)

  const methods = Object.entries(matchmaker).map(([name, method]: [string, Method]) => {
    const kind = KINDS[name as keyof Matchmaker]
    if (kind === 'free') return [name, method]
    const checked = kind === 'read' ? reading(method) : commanding(method)
    return [name, PROMISED.has(name) ? promised(checked) : checked]
  })
  return Object.fromEntries(methods) as Matchmaker
}

/** @param isFailing whether the store was tried and could not be read. */
export const notReady = (isFailing: boolean): Unavailable =>
  new Unavailable(
    isFailing
      ? 'The store cannot be opened, so what was before is not known. It is tried again every second.'
      : 'What was before is still being read from the store. Try again in a second.',
  )
