import { type Coordinates, InvalidInput } from '@muster/core'
import { addressPrefix, jsonIn, read, readJson } from '@muster/core/internal'
import type { Player } from '@muster/hosting/internal'
import { z } from 'zod'
import type { QueueDefinition } from '../queues/index.js'

/** The `format` in the first line of a recording. It changes if older versions could not read new recordings. */
export const FORMAT = 'muster-recording-1'

/** A player without their address, unless the recorder keeps addresses. */
export interface RecordedPlayer extends Player {
  /** Number of the network of a player whose location is unknown: players with the same number share a network. */
  readonly network?: number | undefined
}

const id = z.string().min(1)
const ids = z.array(id).readonly()
/** The matchmaker validates the other fields when the replay creates the ticket. */
const playerSchema = z.looseObject({ id, network: z.int().min(0).optional() }) as z.ZodType<RecordedPlayer>
const players = z.array(playerSchema).readonly()
const team = z.strictObject({ name: id, slots: z.int().optional(), players: players.optional() })
const teams = z.array(team).readonly()

export type RecordedTeam = z.output<typeof team>

/** `createdAt`: epoch milliseconds at which the ticket's waiting time starts. */
export type RecordedTicket = z.output<typeof ticket>
const ticket = z.strictObject({
  id,
  queues: z.array(id).min(1).readonly(),
  players: z.array(playerSchema).min(1).readonly(),
  priority: z.number(),
  createdAt: z.number(),
})
const when = { at: z.number(), n: z.int().min(0) }

/**
 * A line of a recording: a command of a matchmaker, its time (epoch milliseconds), and its number. Lines that wait for
 * players' locations are written late.
 */
export type RecordedLine = z.output<typeof line>
const line = z.discriminatedUnion('kind', [
  /** `queues`: their definitions, if the recorder has them. */
  z.strictObject({
    ...when,
    kind: z.literal('start'),
    format: z.literal(FORMAT),
    queues: z.array(z.unknown()).readonly().optional(),
  }),
  z.strictObject({ ...when, kind: z.literal('create'), ticket }),
  z.strictObject({ ...when, kind: z.literal('cancel'), ticketId: id }),
  z.strictObject({ ...when, kind: z.enum(['accept', 'decline']), ticketId: id, playerId: id.optional() }),
  /** Players left their match. */
  z.strictObject({ ...when, kind: z.literal('left'), playerIds: ids }),
  /** The match of these tickets was stopped. */
  z.strictObject({ ...when, kind: z.literal('stop'), ticketIds: ids }),
  /** A backfill was created for the match of these tickets. */
  z.strictObject({
    ...when,
    kind: z.literal('backfill'),
    ticketIds: ids,
    backfill: z.strictObject({ id, teams: teams.optional(), priority: z.number().optional() }),
  }),
  z.strictObject({ ...when, kind: z.literal('backfillChange'), id, teams }),
  z.strictObject({ ...when, kind: z.literal('backfillCancel'), id }),
])

/** A line without its time and number. */
export type RecordedEvent = Untimed<RecordedLine>
type Untimed<Line> = Line extends unknown ? Omit<Line, keyof typeof when> : never

/** Parses a line of a recording. @throws {InvalidInput} naming the line, counted from 1, and its fault. */
export function readLine(text: string, number: number): RecordedLine {
  const refuse = (field: string, message: string) =>
    new InvalidInput(`recording, line ${number}: ${message}`, { field })
  return read(
    line,
    readJson(text, (fault) => refuse('', fault)),
    refuse,
  )
}

/**
 * Reads the lines of a recording, or of several of successive processes. Skips empty lines, and the last line of a
 * process that a crash has cut: it is not JSON, and no line follows or the first line of the next process.
 * @param readOne reads a line; numbers count from 1
 * @throws what `readOne` throws for any other line, and for a cut line if there is nothing else to read
 */
export async function* recordedLines(
  lines: Iterable<string> | AsyncIterable<string>,
  readOne = readLine,
): AsyncGenerator<{ readonly line: RecordedLine; readonly number: number }> {
  let number = 0
  let isFirst = true
  /** True while no line but those that begin a process was read. */
  let isEmpty = true
  let cut: unknown
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    if (cut !== undefined && !text.includes('"kind":"start"')) throw cut
    cut = undefined
    let one: RecordedLine
    try {
      one = readOne(text, number)
    } catch (error) {
      if (isFirst || jsonIn(text) !== undefined) throw error
      cut = error
      continue
    }
    isFirst = false
    isEmpty &&= one.kind === 'start'
    yield { line: one, number }
  }
  if (cut !== undefined && isEmpty) throw cut
}

/** Creates the recorded form of a player, and numbers the networks. */
type PlayerRecorder = (player: Player, place: Coordinates | undefined) => RecordedPlayer

/** Creates the recorder of players. @param keepAddresses true to record addresses. */
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

/** Number of networks that generated addresses can represent: the free bits of fd00::/8 in a /32. */
const NETWORKS = 2 ** 24

/**
 * Creates a player from its recorded form. A player with only a network number gets a generated address in that
 * network: a unique local address (RFC 4193).
 */
export function playerOf({ network, ...player }: RecordedPlayer): Player {
  if (network === undefined || player.ip !== undefined || player.coordinates !== undefined) return player
  const bits = (network % NETWORKS).toString(16).padStart(6, '0')
  return { ...player, ip: `fd${bits.slice(0, 2)}:${bits.slice(2)}::1` }
}

/**
 * Returns the recorded form of a queue. Variables of servers, and the URL and payload of a probe, are left out: they
 * may be secret, and a replay deploys no servers.
 */
export function recordedQueue(queue: QueueDefinition): QueueDefinition {
  const { deploy } = queue as Partial<QueueDefinition>
  if (typeof deploy !== 'object' || deploy === null) return queue
  const { environment: _, hiddenEnvironment: __, probe, ...kept } = deploy
  if (probe === undefined) return { ...queue, deploy: kept }
  const probeKind = probe.kind === 'registration' ? { kind: probe.kind } : { kind: probe.kind, port: probe.port }
  return { ...queue, deploy: { ...kept, probe: probeKind } }
}
