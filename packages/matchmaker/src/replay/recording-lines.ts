import { type Coordinates, InvalidInput } from '@muster/core'
import { addressPrefix, notJson, read } from '@muster/core/internal'
import type { Player } from '@muster/servers/internal'
import { z } from 'zod'
import type { QueueDefinition } from '../queues/index.js'
import type { BackfillTeam } from '../tickets/index.js'

/** The `format` in the first line of a recording. It changes when older readers could not read new recordings. */
export const FORMAT = 'muster-recording-1'

/** A line of a recording: a command that a matchmaker carried out. */
export type RecordedEvent =
  /** `queues`: their definitions, if the recorder was given them. */
  | { readonly kind: 'start'; readonly format: typeof FORMAT; readonly queues?: readonly unknown[] | undefined }
  | { readonly kind: 'create'; readonly ticket: RecordedTicket }
  | { readonly kind: 'cancel'; readonly ticketId: string }
  | { readonly kind: 'accept' | 'decline'; readonly ticketId: string; readonly playerId?: string | undefined }
  /** Players left the match they were in. */
  | { readonly kind: 'left'; readonly playerIds: readonly string[] }
  /** The match of these tickets was stopped. */
  | { readonly kind: 'stop'; readonly ticketIds: readonly string[] }
  /** A backfill was created for the match of these tickets. */
  | { readonly kind: 'backfill'; readonly ticketIds: readonly string[]; readonly backfill: RecordedBackfill }
  | { readonly kind: 'backfillChange'; readonly id: string; readonly teams: readonly RecordedTeam[] }
  | { readonly kind: 'backfillCancel'; readonly id: string }

/**
 * A line: the event, its time (epoch milliseconds), and its number. Lines whose players were located first are written
 * late.
 */
export type RecordedLine = RecordedEvent & { readonly at: number; readonly n: number }

/** A player without the address, unless the recorder is to keep it. */
export interface RecordedPlayer extends Player {
  /** Number of the network of a player whose place is unknown: players with the same number share a network. */
  readonly network?: number | undefined
}

export interface RecordedTicket {
  readonly id: string
  readonly queues: readonly string[]
  readonly players: readonly RecordedPlayer[]
  readonly priority: number
  /** Epoch milliseconds from which the ticket's waiting time is counted. */
  readonly createdAt: number
}

interface RecordedBackfill {
  readonly id: string
  readonly teams?: readonly RecordedTeam[] | undefined
  readonly priority?: number | undefined
}

export interface RecordedTeam extends Omit<BackfillTeam, 'players'> {
  readonly players?: readonly RecordedPlayer[] | undefined
}

const id = z.string().min(1)
const ids = z.array(id)
/** Other fields of a player are checked when the ticket is created. */
const playerSchema = z.looseObject({ id, network: z.int().min(0).optional() })
const team = z.strictObject({ name: id, slots: z.int().optional(), players: z.array(playerSchema).optional() })
const ticket = z.strictObject({
  id,
  queues: ids.min(1),
  players: z.array(playerSchema).min(1),
  priority: z.number(),
  createdAt: z.number(),
})
const when = { at: z.number(), n: z.int().min(0) }

const line = z.discriminatedUnion('kind', [
  z.strictObject({
    ...when,
    kind: z.literal('start'),
    format: z.literal(FORMAT),
    queues: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ ...when, kind: z.literal('create'), ticket }),
  z.strictObject({ ...when, kind: z.literal('cancel'), ticketId: id }),
  z.strictObject({ ...when, kind: z.enum(['accept', 'decline']), ticketId: id, playerId: id.optional() }),
  z.strictObject({ ...when, kind: z.literal('left'), playerIds: ids }),
  z.strictObject({ ...when, kind: z.literal('stop'), ticketIds: ids }),
  z.strictObject({
    ...when,
    kind: z.literal('backfill'),
    ticketIds: ids,
    backfill: z.strictObject({ id, teams: z.array(team).optional(), priority: z.number().optional() }),
  }),
  z.strictObject({ ...when, kind: z.literal('backfillChange'), id, teams: z.array(team) }),
  z.strictObject({ ...when, kind: z.literal('backfillCancel'), id }),
]) as z.ZodType<RecordedLine>

/** @throws {InvalidInput} naming the line, counted from 1, and what is wrong with it. */
export function readLine(text: string, number: number): RecordedLine {
  const refuse = (field: string, message: string) =>
    new InvalidInput(`recording, line ${number}: ${message}`, { field })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse('', notJson(text))
  }
  return read(line, value, refuse)
}

/** Makes the recorded form of a player, and numbers the networks. */
type PlayerRecorder = (player: Player, place: Coordinates | undefined) => RecordedPlayer

/** @param keepAddresses whether addresses are recorded. */
export function createPlayerRecorder(keepAddresses: boolean): PlayerRecorder {
  const networks = new Map<string, number>()
  const numberOf = (ip: string): number | undefined => {
    const network = addressPrefix(ip)
    if (network === undefined) return undefined
    const number = networks.get(network) ?? networks.size
    networks.set(network, number)
    return number
  }
  return ({ ip, ...player }, place) => {
    if (ip === undefined) return player
    if (keepAddresses) return { ...player, ip, ...(place && { coordinates: place }) }
    return place === undefined ? { ...player, network: numberOf(ip) } : { ...player, coordinates: place }
  }
}

/** Number of networks that invented addresses can tell apart: the free bits of fd00::/8 in a /32. */
const NETWORKS = 2 ** 24

/**
 * Makes a player from its recorded form. A player with only a network number gets an invented address in that network:
 * a unique local address (RFC 4193).
 */
export function playerOf({ network, ...player }: RecordedPlayer): Player {
  if (network === undefined || player.ip !== undefined || player.coordinates !== undefined) return player
  const bits = (network % NETWORKS).toString(16).padStart(6, '0')
  return { ...player, ip: `fd${bits.slice(0, 2)}:${bits.slice(2)}::1` }
}

/**
 * The recorded form of a queue. Variables of servers, and the URL and payload of a probe, are left out: they may be
 * secret, and a replay deploys nothing.
 */
export function recordedQueue(queue: QueueDefinition): QueueDefinition {
  const { deploy } = queue as Partial<QueueDefinition>
  if (typeof deploy !== 'object' || deploy === null) return queue
  const { environment: _, hiddenEnvironment: __, probe, ...told } = deploy
  if (probe === undefined) return { ...queue, deploy: told }
  const kept = probe.kind === 'registration' ? { kind: probe.kind } : { kind: probe.kind, port: probe.port }
  return { ...queue, deploy: { ...told, probe: kept } }
}
