import type { Assignment } from '../servers/assignment.js'
import type { BackfillRecord } from './backfill/record.js'
import type { Placed } from '../tickets/vacancies.js'
import type { TeamShape } from '../kernel/model.js'
import type { Queue } from '../queues/queue.js'
import type { TicketRecord } from '../tickets/record.js'

/**
 * Where a match stands, seen from its players:
 * - `asking`: they are asked whether they accept it;
 * - `due`: all did, and it gets a server as soon as one may be deployed;
 * - `deploying`: a server is asked for, until players may come;
 * - `running`: they were told where to connect;
 * - `over`: it was dissolved, or has ended.
 */
export type MatchPhase = 'asking' | 'due' | 'deploying' | 'running' | 'over'

/** Who is in a match, from when it was found until it is over. Only `createMatchLives` changes it. */
export interface Match {
  readonly matchId: string
  /** As it was when it found the match. */
  readonly queue: Queue
  /** Those of the queue, in the order of its model. */
  readonly teams: readonly TeamShape[]
  /** Epoch milliseconds. */
  readonly foundAt: number
  /** Milliseconds of waiting at which the limits began that were in force. */
  expansionMs: number
  /** Its tickets that are not told yet where to connect, in the order in which they came. */
  seated: readonly TicketRecord[]
  /** Who is in it, of those who were told already and of the others. */
  placed: readonly Placed[]
  phase: MatchPhase
  /** An earlier process made it, so that it is not known who is in which of its teams; `placed` are those who came since. */
  teamsUnknown: boolean
  /** Epoch milliseconds by which those who did not accept must be replaced; Infinity while nobody is missing. */
  fullBy: number
  requestId: string | undefined
  assignment: Assignment | undefined
  /** The one that is open. */
  backfill: BackfillRecord | undefined
}

/** One that gets a server at once. */
export const newMatch = (matchId: string, queue: Queue, teams: readonly TeamShape[], foundAt: number): Match => ({
  matchId,
  queue,
  teams,
  foundAt,
  expansionMs: 0,
  seated: NOBODY,
  placed: NOBODY,
  phase: 'due',
  teamsUnknown: false,
  fullBy: Infinity,
  requestId: undefined,
  assignment: undefined,
  backfill: undefined,
})

const NOBODY: readonly never[] = []

/** Whether it is in the match, and was not told yet where to connect. */
export const isSeated = (record: TicketRecord, match: Match): boolean =>
  record.status === 'MATCH_FOUND' && record.seat?.match === match

/** Those whose server is not there yet, or who are asked. */
export const waitingFor = (match: Match): readonly TicketRecord[] => match.seated.filter((record) => isSeated(record, match))

export const playersOf = (records: readonly TicketRecord[]): readonly string[] =>
  records.flatMap(({ players }) => players.map(({ id }) => id))

export const placed = (records: readonly TicketRecord[]): readonly Placed[] =>
  records.map((ticket) => ticket.seat ?? { ticket, team: 0 })
