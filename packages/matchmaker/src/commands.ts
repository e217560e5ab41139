/**
 * The table of commands: every method of a matchmaker, what its answer guarantees, and its name in an audit log. The
 * guards, the ticket API's service, the calls from follower to leader, the audit log and docs/scale-out.md are derived
 * from it.
 */
import type { Awaitable } from '@muster/core/internal'
import type { LearnedWaits, Matchmaker } from './matches/index.js'

/** The methods of a matchmaker and the additional ones that the leader of a partition has. */
interface Methods extends Matchmaker {
  learnedWaits(): readonly LearnedWaits[]
}

/**
 * How a process of a partition answers a call. For the first four values, it forwards the call to the leader, and the
 * value says what the leader's answer guarantees.
 */
type Answered =
  /**
   * The command's effect is stored, so that every later leader continues from it. The answer is stored too: in the same
   * commit if the command completes immediately, else in a later one. A later leader repeats a stored answer. Without a
   * stored answer, it runs the command again.
   */
  | 'kept'
  /**
   * The leader stores the command's effect before it answers. If the leader fails before it answers, no later leader
   * gets the command: callers send their whole state again anyway.
   */
  | 'level'
  /** The answer is true when it is given, and depends only on stored data. */
  | 'current'
  /** Guarantees nothing. A lost call only delays what the leader finds out by itself. */
  | 'hint'
  /** The process answers it alone, from the store. */
  | 'itself'
  /** The process answers it alone and immediately, from memory. */
  | 'at once'
  /** The process does not have this method. */
  | 'none'

/** The kinds of methods by what they do (the key), each with the ways in which it may be answered (the value). */
interface Does {
  /**
   * Changes tickets, matches, players or queues. Requires the state of the earlier process. With a store, the effect is
   * stored.
   */
  readonly command: 'kept' | 'level' | 'current' | 'itself' | 'none'
  /** Reads tickets, matches, players or queues. Requires the state of the earlier process. */
  readonly read: 'current' | 'hint' | 'itself' | 'at once' | 'none'
  /** Needs no state of the earlier process, or tells its caller that some of it is not loaded yet. */
  readonly free: 'hint' | 'at once' | 'none'
}
type Promises = { readonly [What in keyof Does]: readonly [What, Does[What]] }[keyof Does]

/**
 * How callers get errors. A method that returns a promise rejects with all errors. With `both`, a method throws some
 * errors and rejects with the others; its docstring says which.
 */
type ErrorDelivery<Call> = Call extends (...input: never) => Promise<unknown> ? 'rejected' | 'both' : 'thrown'

/** The audit log's name of an operator's action. The second name is for a command that was called with `false`. */
type Acts = readonly [act: string, opposite?: string]

type CommandRow<Call> =
  | readonly [...Promises, ...(ErrorDelivery<Call> extends 'thrown' ? [] : [ErrorDelivery<Call>])]
  | readonly ['command', 'kept' | 'itself', ErrorDelivery<Call>, ...Acts]

/**
 * Each method by name: what it does, how a process of a partition answers it, how its caller gets errors (default:
 * thrown), and its names in an audit log.
 */
export const COMMANDS = {
  createTicket: ['command', 'itself'],
  createTickets: ['command', 'itself'],
  createMatch: ['command', 'itself'],
  getTicket: ['read', 'itself'],
  findPlayer: ['read', 'itself'],
  waitForChange: ['read', 'itself', 'rejected'],
  cancelTicket: ['command', 'itself', 'thrown', 'cancel-ticket'],
  acceptMatch: ['command', 'kept'],
  declineMatch: ['command', 'kept'],
  explain: ['read', 'current'],
  longestWaiting: ['read', 'current'],
  estimateWait: ['read', 'at once'],
  estimateQueueWaits: ['read', 'itself'],
  learnedWaits: ['read', 'current'],
  notePresence: ['free', 'hint'],
  exportTickets: ['read', 'none'],
  importTickets: ['command', 'none'],

  playersLeft: ['command', 'kept', 'both'],
  stopMatch: ['command', 'kept', 'rejected', 'stop-match'],
  createBackfill: ['command', 'kept'],
  getBackfill: ['read', 'current'],
  updateBackfill: ['command', 'kept'],
  cancelBackfill: ['command', 'kept'],

  cooldownsOf: ['read', 'current'],
  forgive: ['command', 'kept', 'thrown', 'forgive-cooldown'],
  exportCooldowns: ['read', 'none'],
  importCooldowns: ['command', 'none'],
  pauseQueue: ['command', 'kept', 'thrown', 'pause-queue'],
  resumeQueue: ['command', 'kept', 'thrown', 'resume-queue'],
  pausePool: ['command', 'kept', 'thrown', 'pause-pool', 'resume-pool'],
  resultsSetAside: ['read', 'current'],
  repeatResult: ['command', 'kept', 'thrown', 'repeat-result'],
  dropResult: ['command', 'kept', 'thrown', 'drop-result'],

  isServerSecret: ['read', 'current'],
  isSecretOf: ['read', 'current'],
  serverReady: ['read', 'hint'],
  playerCame: ['read', 'hint'],
  registerServer: ['command', 'current'],
  reportServer: ['command', 'level', 'rejected'],
  waitForServerOrders: ['read', 'current', 'rejected'],
  drainServer: ['command', 'kept', 'rejected', 'drain-server'],
  stopServer: ['command', 'kept', 'rejected', 'stop-server'],
  isEnrolmentKey: ['read', 'current'],
  enrolServer: ['command', 'level', 'rejected'],
  revokeEnrolment: ['command', 'kept', 'rejected', 'revoke-enrolment'],
  joinKeys: ['read', 'itself'],
  joinToken: ['free', 'at once'],

  listedServers: ['read', 'current'],
  holdSeats: ['command', 'current'],
  followSeat: ['read', 'current'],
  releaseSeat: ['command', 'kept', 'rejected'],
  seatsOf: ['read', 'current'],
  startServer: ['command', 'kept', 'rejected'],

  playerMayState: ['free', 'at once'],
  readsLatencies: ['free', 'at once'],
  largestParty: ['free', 'at once'],
  presenceWithinMs: ['free', 'at once'],
  queueNames: ['free', 'at once'],
  browserTerms: ['free', 'at once'],
  dateOf: ['free', 'at once'],

  inspect: ['read', 'current'],
  survey: ['free', 'none'],
  hint: ['free', 'hint'],
  webhook: ['free', 'hint', 'rejected'],
  on: ['free', 'none'],
  reconfigure: ['free', 'none'],
  tick: ['free', 'none', 'rejected'],
  ready: ['free', 'none', 'rejected'],
  start: ['free', 'none'],
  stop: ['free', 'none', 'rejected'],
  close: ['free', 'none', 'rejected'],
} as const satisfies { readonly [Name in keyof Methods]: CommandRow<Methods[Name]> }

type Table = typeof COMMANDS
/** The methods that a process of a partition answers in one of the ways `How`. */
type AnsweredBy<How extends Answered> = {
  [Name in keyof Table]: Table[Name][1] extends How ? Name : never
}[keyof Table]

/** The methods that a process forwards to the leader, and what the answer guarantees. */
export type LeaderCommandName = AnsweredBy<'kept' | 'level' | 'current' | 'hint'>
export const LEADER_COMMANDS = Object.fromEntries(
  Object.entries(COMMANDS).flatMap(([name, [, how]]) =>
    how === 'itself' || how === 'at once' || how === 'none' ? [] : [[name, how]],
  ),
) as { readonly [Name in LeaderCommandName]: Table[Name][1] }

/** The methods of the service that answer immediately. */
export type LocalCommandName = AnsweredBy<'at once'>
/** Methods that wait, and so return a promise in every process. */
type Waiting = 'waitForChange' | 'stopMatch' | 'waitForServerOrders'
/** All methods that a process of a partition answers, except those for the deployment service. */
type Served = Exclude<AnsweredBy<Exclude<Answered, 'none'>> & keyof Matchmaker, 'hint' | 'webhook'>

/**
 * The part of a matchmaker that the ticket API uses. A matchmaker of this process answers immediately. A matchmaker of
 * several processes returns promises, which reject with the errors that a `Matchmaker` throws.
 */
export type TicketService = Readonly<Pick<Matchmaker, LocalCommandName | Waiting>> & {
  readonly [Name in Exclude<Served, LocalCommandName | Waiting>]: (
    ...input: Parameters<Matchmaker[Name]>
  ) => Awaitable<Awaited<ReturnType<Matchmaker[Name]>>>
}

/** The commands of operators. */
export type OperatorCommandName = {
  [Name in keyof Table]: Table[Name] extends readonly [unknown, unknown, unknown, ...Acts] ? Name : never
}[keyof Table]
/** Names of operators' actions in an audit log. */
export type OperatorAction<Name extends OperatorCommandName = OperatorCommandName> = Exclude<
  Table[Name][3 | 4],
  undefined
>

type Tail<Input extends readonly unknown[]> = Input extends readonly [unknown, ...infer Rest] ? Rest : never

/**
 * Creates the function that runs an operator's command about one object and, if the command succeeds, reports who ran
 * it.
 */
export const createAuditedCommands =
  <Name extends OperatorCommandName>(
    service: Pick<TicketService, Name>,
    acted: (act: { readonly who: string; readonly what: OperatorAction<Name>; readonly id: string }) => void,
  ) =>
  async <One extends Name>(
    who: string,
    command: One,
    id: string,
    ...more: Tail<Parameters<Matchmaker[One]>>
  ): Promise<void> => {
    const [, , , act, opposite = act]: readonly string[] = COMMANDS[command]
    await Reflect.apply(service[command], service, [id, ...more])
    acted({ who, what: (more[0] === false ? opposite : act) as OperatorAction<Name>, id })
  }

type Method = (...input: readonly unknown[]) => unknown

/** True if the method's callers get all errors by a promise. */
export const rejects = (name: keyof Table): boolean => COMMANDS[name][2] === 'rejected'

/** Wraps each method of a matchmaker. */
export function eachMethod(
  matchmaker: Matchmaker,
  around: (method: Method, name: keyof Matchmaker) => Method,
): Matchmaker {
  const methods = Object.entries(matchmaker).map(([name, method]: [string, Method]) => [
    name,
    around(method, name as keyof Matchmaker),
  ])
  return Object.fromEntries(methods) as Matchmaker
}

export interface Guards {
  /** Called before each command and read. @throws to prevent the call */
  readonly before: () => void
  readonly command?: {
    /** Called before each command, after `before` of all calls. @throws to prevent the command */
    readonly before: () => void
    /** Called after each command, including one that threw. */
    readonly after: () => void
    /** Called after each command that did not throw. @throws if the effect cannot be stored */
    readonly done: () => void
  }
}

/** Returns the matchmaker with guards around its methods. */
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

  return eachMethod(matchmaker, (method, name) => {
    const [does] = COMMANDS[name]
    if (does === 'free') return method
    const checked = does === 'read' ? reading(method) : commanding(method)
    return rejects(name) ? promised(checked) : checked
  })
}
