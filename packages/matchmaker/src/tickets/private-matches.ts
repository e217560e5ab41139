import type { Random } from '@muster/core/clock'
import { newId, read } from '@muster/core/internal'
import type { TeamShape } from '@muster/kernel'
import type { Player } from '@muster/hosting/internal'
import { z } from 'zod'
import { InvalidMatch, InvalidTicket, unknownQueue } from '../errors.js'
import { assertLocatable } from './admission.js'
import { complete, MOST, type TicketPlayer } from './checked-ticket.js'
import { locatedPlayer } from './ticket-input.js'
import type { QueueRuntime, TicketRecord } from './ticket-record.js'
import type { CancelReason, Ticket } from './ticket.js'

/** The tickets of private matches that are not assigned yet. The tickets of one match begin together, or not at all. */
export interface PrivateMatches {
  /** Adds a ticket, by its `privateSeat`. */
  add(record: TicketRecord): void
  /** Removes an assigned or deleted ticket. The other tickets of its match then no longer begin the match. */
  forget(record: TicketRecord): void
  /** Ends the private match of an ended ticket. Returns its other tickets, which are removed too. */
  end(record: TicketRecord): readonly TicketRecord[]
  /** Returns the tickets of each private match that waits for a server, in the order in which the matches were made. */
  waiting(): Iterable<readonly TicketRecord[]>
}

const NONE: readonly never[] = []

export function createPrivateMatches(): PrivateMatches {
  const byId = new Map<string, readonly TicketRecord[]>()
  const idOf = ({ privateSeat }: TicketRecord) => privateSeat?.id ?? ''
  const without = (record: TicketRecord) => (byId.get(idOf(record)) ?? NONE).filter((other) => other !== record)

  return {
    add: (record) => void byId.set(idOf(record), [...without(record), record]),
    forget: (record) => {
      const others = without(record)
      if (others.length === 0) byId.delete(idOf(record))
      else byId.set(idOf(record), others)
    },
    end: (record) => {
      if (byId.get(idOf(record))?.includes(record) !== true) return NONE
      const others = without(record)
      byId.delete(idOf(record))
      return others
    },
    waiting: function* () {
      for (const records of byId.values()) {
        const isComplete = records.length === records[0]?.privateSeat?.tickets
        if (isComplete && records.every(isWaiting)) yield records
      }
    },
  }
}

/** The reasons that apply to all tickets of a private match. */
const SHARED: ReadonlySet<CancelReason> = new Set(['expired', 'attempts', 'closed', 'refused', 'handed-over'])

/**
 * Returns the reason for which the other tickets of a private match are cancelled.
 * @param reason the reason for which the first ticket was cancelled.
 */
export const reasonOfOthers = (reason: CancelReason): CancelReason => (SHARED.has(reason) ? reason : 'dissolved')

export const isPrivate = ({ privateSeat }: TicketRecord): boolean => privateSeat !== undefined

const isWaiting = ({ status, waitingFor }: TicketRecord) => status === 'SEARCHING' && waitingFor === 'servers'

/** A match of given players. */
export interface MatchInput {
  /**
   * 1 to 60 of A–Z, a–z, 0–9, _ and -. Repeating the call with the same id has no effect while its tickets can be read.
   * Default: a new id.
   */
  readonly id?: string | undefined
  /**
   * Name of the queue whose servers, teams and other settings apply. Its rules about who may play together do not
   * apply.
   */
  readonly queue: string
  /** The teams that have players, each once. A team may have fewer players than the queue requires, but not more. */
  readonly teams: readonly MatchTeamInput[]
  /** True if players need not accept the match in a queue with `acceptance`. Default false. */
  readonly skipAcceptance?: boolean | undefined
}

export interface MatchTeamInput {
  /** Name of one of the queue's teams, as in tickets: `team` for a queue with `matchSize`. */
  readonly name: string
  readonly players: readonly Player[]
}

/** A match of given players, as created. */
export interface PrivateMatch {
  readonly id: string
  /**
   * One ticket for each team, in the order of the teams, with all of its players. The tickets show the state of the
   * match.
   */
  readonly tickets: readonly Ticket[]
}

interface CheckedMatch {
  readonly id: string | undefined
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly players: readonly TicketPlayer[] }[]
  readonly asks: boolean
}

const schema: z.ZodType<MatchInput> = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]{1,60}$/, 'must be 1 to 60 of A–Z, a–z, 0–9, _ and -')
    .optional(),
  queue: z.string(),
  teams: z
    .array(z.strictObject({ name: z.string(), players: z.array(locatedPlayer).min(1).max(MOST.players) }))
    .min(1)
    .max(MOST.players)
    .superRefine((teams, context) => {
      const names = new Set<string>()
      const ids = new Set<string>()
      for (const [index, { name, players }] of teams.entries()) {
        if (names.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is listed twice' })
        names.add(name)
        for (const [at, { id }] of players.entries()) {
          const path = [index, 'players', at, 'id']
          if (ids.has(id)) context.addIssue({ code: 'custom', path, message: 'is in this match twice' })
          ids.add(id)
        }
      }
    }),
  skipAcceptance: z.boolean().optional(),
})

/**
 * Validates the input of a private match.
 * @throws {InvalidMatch} naming the path, and the value unless it is an address.
 */
function readMatchInput(input: MatchInput): CheckedMatch {
  const { id, queue, teams, skipAcceptance = false } = read(schema, input, invalidMatch)
  return {
    id,
    queue,
    teams: teams.map(({ name, players }) => ({ name, players: players.map(complete) })),
    asks: !skipAcceptance,
  }
}

const invalidMatch = (field: string, fieldAndFault: string) => new InvalidMatch(`match: ${fieldAndFault}`, { field })

/**
 * Validates what does not depend on other tickets, and makes a ticket of each team.
 * @throws {InvalidMatch}; {UnknownQueue}
 */
export function checkMatch(input: MatchInput, runtimes: ReadonlyMap<string, QueueRuntime>, random: Random) {
  const match = readMatchInput(input)
  const runtime = runtimes.get(match.queue)
  if (runtime === undefined) throw unknownQueue(match.queue, [...runtimes.keys()])
  assertTeamsOfQueue(match, runtime.compiled.model.teams)
  const { id = newId(random), queue, teams, asks } = match
  const tickets = teams.map(({ name, players }, index) => ({
    id: `${id}-${index + 1}`,
    queues: [queue],
    players,
    priority: 0,
    privateSeat: { id, team: name, tickets: teams.length, asks },
  }))
  for (const [index, ticket] of tickets.entries()) {
    inMatch(index, () => {
      assertLocatable(ticket, [runtime])
      runtime.checkEnvironment({ ...ticket, createdAt: 0 })
    })
  }
  return { id, tickets }
}

/**
 * Checks that the queue has the teams of the match, with enough places.
 * @throws {InvalidMatch} for a team that the queue does not have, or that has too many players.
 */
function assertTeamsOfQueue({ teams, queue }: CheckedMatch, shapes: readonly TeamShape[]): void {
  for (const [index, { name, players }] of teams.entries()) {
    const shape = shapes.find((one) => one.name === name)
    if (shape === undefined) {
      const [where, names] = [`teams.${index}.name`, shapes.slice(0, 8).map((one) => JSON.stringify(one.name))]
      const message = `is not a team of queue ${JSON.stringify(queue)}, which has ${names.join(', ')}`
      throw invalidMatch(where, `${where}: ${message}${shapes.length > 8 ? ', …' : ''}, got ${JSON.stringify(name)}`)
    }
    if (players.length > shape.max) {
      const where = `teams.${index}.players`
      throw invalidMatch(where, `${where}: must be at most ${shape.max}, got ${players.length}`)
    }
  }
}

/**
 * Runs a check of a team. Prefixes the field of its error with the team's path in the match. @param index of the team.
 */
export function inMatch<Result>(index: number | undefined, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof InvalidTicket)) throw error
    const { field = '' } = error
    if (index === undefined)
      throw invalidMatch('id', 'id: already belongs to a match with different teams or tickets. Use a new id.')
    const where = `teams.${index}.${field}`
    throw invalidMatch(where, error.message.replace(/^ticket: /, '').replace(field, where))
  }
}
