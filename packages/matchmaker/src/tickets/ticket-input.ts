import { canonicalIp, type Coordinates, InvalidInput } from '@muster/core'
import { having, ipAddress, isObject, isWellFormed, read as readBy } from '@muster/core/internal'
import type { Attributes, Player } from '@muster/hosting/internal'
import { z } from 'zod'
import { InvalidTicket } from '../errors.js'
import { type CheckedTicket, complete, MOST, PRIORITIES, TICKET_ID, type TicketPlayer } from './checked-ticket.js'
import type { Ticket, TicketInput, WaitOptions } from './ticket.js'

type Fields = Readonly<Record<string, unknown>>

const TICKET_KEYS: ReadonlySet<string> = new Set(['queue', 'queues', 'players', 'id', 'priority'])
const PLAYER_KEYS: ReadonlySet<string> = new Set([
  'id',
  'ip',
  'coordinates',
  'latencies',
  'attributes',
  'roles',
  'avoid',
])

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MOST.characters && isWellFormed(value)
const isName = (value: unknown): value is string => isShort(value) && value.length > 0
const isWithin = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && value >= -limit && value <= limit
/** True if a given value could not be read. */
const isOdd = (given: unknown, read: unknown) => given !== undefined && read === undefined

function hasOnly(fields: Fields, keys: ReadonlySet<string>): boolean {
  for (const key in fields) if (!keys.has(key)) return false
  return true
}

/**
 * Returns what the schema returns for a valid ticket (a test ensures this), but faster. Returns undefined if the input
 * may be invalid: then the schema decides.
 */
export function quickRead(input: unknown): CheckedTicket | undefined {
  if (!isObject(input) || !hasOnly(input, TICKET_KEYS)) return undefined
  const { id, players, priority = 0 } = input
  const queues = queuesOf(input)
  if (queues === undefined || !Array.isArray(players) || players.length === 0 || players.length > MOST.players)
    return undefined
  if (!Number.isInteger(priority) || !isWithin(priority, PRIORITIES.most)) return undefined
  if (id !== undefined && !(typeof id === 'string' && TICKET_ID.test(id))) return undefined
  const read = (players as readonly unknown[]).map(playerOf)
  if (!read.every(isRead)) return undefined
  if (read.length > 1 && new Set(read.map((player) => player.id)).size < read.length) return undefined
  return { id, queues, players: read, priority }
}

const isRead = (player: TicketPlayer | undefined): player is TicketPlayer => player !== undefined

function queuesOf({ queue, queues }: Fields): readonly string[] | undefined {
  if (queues === undefined) return typeof queue === 'string' ? [queue] : undefined
  const several = queue === undefined ? listOf(queues, isName, MOST.queues) : undefined
  return several?.length === 0 ? undefined : several
}

function playerOf(player: unknown): TicketPlayer | undefined {
  if (!isObject(player) || !hasOnly(player, PLAYER_KEYS)) return undefined
  const { id } = player
  const ip = typeof player['ip'] === 'string' ? canonicalIp(player['ip']) : undefined
  const coordinates = coordinatesOf(player['coordinates'])
  // The schema decides about a player without a location.
  if (!isName(id) || !isPlayerId(id) || (ip === undefined && coordinates === undefined)) return undefined
  if (isOdd(player['ip'], ip) || isOdd(player['coordinates'], coordinates)) return undefined
  const latencies = latenciesOf(player['latencies'])
  const attributes = attributesOf(player['attributes'])
  const roles = listOf(player['roles'], isName, MOST.roles)
  const avoid = listOf(player['avoid'], isName, MOST.avoided)
  if (isOdd(player['latencies'], latencies) || isOdd(player['attributes'], attributes)) return undefined
  if (isOdd(player['roles'], roles) || isOdd(player['avoid'], avoid)) return undefined
  return complete({ id, ip, coordinates, latencies, attributes, roles, avoid })
}

function coordinatesOf(value: unknown): Coordinates | undefined {
  if (!isObject(value)) return undefined
  const { latitude, longitude } = value
  return isWithin(latitude, 90) && isWithin(longitude, 180) ? { latitude, longitude } : undefined
}

function attributesOf(value: unknown): Attributes | undefined {
  if (!isObject(value)) return undefined
  // A copy takes no more memory than needed. An object that grows key by key would reserve room for more keys.
  const read = { ...value }
  let count = 0
  for (const key in read) {
    const one = attributeOf(read[key])
    if (one === undefined || !isKey(key) || (count += 1) > MOST.attributes) return undefined
    if (typeof one === 'object') read[key] = one
  }
  return read as Attributes
}

function attributeOf(value: unknown): Attributes[string] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'boolean') return value
  return isShort(value) ? value : listOf(value, isShort, MOST.listed)
}

function latenciesOf(value: unknown): Readonly<Record<string, number>> | undefined {
  if (!isObject(value)) return undefined
  const read: Record<string, number> = {}
  let count = 0
  for (const key in value) {
    const ms = value[key]
    if (!isWithin(ms, MOST.latencyMs) || ms <= 0 || !isKey(key) || (count += 1) > MOST.beacons) return undefined
    read[key] = ms
  }
  return read
}

const isKey = (key: string) => isName(key) && isPlayerId(key)

/**
 * False for `__proto__`, which no player may have as an id. Reports and results have objects whose keys are player ids.
 * JSON with that key is rejected, so a player of this id would invalidate a server's whole report (our choice). False
 * for half of a surrogate pair, because in UTF-8 all ids that differ only in such halves are equal.
 */
export const isPlayerId = (id: string): boolean => id !== '__proto__' && isWellFormed(id)
export const NO_PLAYER_ID = 'must not be __proto__, which JSON cannot have as a key, and must be well-formed Unicode'

/** Returns a list of distinct strings; undefined for anything else. */
function listOf(value: unknown, isOne: (one: unknown) => one is string, most: number): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > most) return undefined
  // Copy the list as a whole, because it is kept as long as the ticket waits. A list that grows by `push` would reserve
  // room for 17 entries.
  const copy: readonly unknown[] = [...value]
  return areAll(copy, isOne) && isDistinct(copy) ? copy : undefined
}

function areAll(list: readonly unknown[], isOne: (one: unknown) => one is string): list is readonly string[] {
  for (const one of list) if (!isOne(one)) return false
  return true
}

/** Maximum length at which searching a list is faster than building a set. */
const FEW = 8

const isDistinct = (list: readonly string[]): boolean =>
  list.length <= FEW ? list.every((one, index) => list.indexOf(one) === index) : new Set(list).size === list.length

export const coordinates: z.ZodType<Coordinates> = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
})

const shortText = z.string().max(MOST.characters).refine(isWellFormed, 'must be well-formed Unicode')
const name = shortText.min(1)
const NOT_TWICE = 'must not list anything twice'
const names = (most: number) => z.array(name).max(most).refine(isDistinct, NOT_TWICE)
const atMost = (most: number) =>
  [(value: object) => Object.keys(value).length <= most, `must have at most ${most} entries`] as const

const attribute = z.union(
  [z.number(), z.boolean(), shortText, z.array(shortText).max(MOST.listed).refine(isDistinct, NOT_TWICE)],
  `must be a number, a boolean, a text of at most ${MOST.characters} characters, ` +
    `or a list of at most ${MOST.listed} different such texts`,
)

export const ticketId = z.string().regex(TICKET_ID, 'must be 1 to 64 of A–Z, a–z, 0–9, _ and -')
export const ticketPriority = z.int().min(PRIORITIES.least).max(PRIORITIES.most)

/** The schema of a player whose location is not needed. */
export const player: z.ZodType<Player> = z.strictObject({
  id: name.refine(isPlayerId, NO_PLAYER_ID),
  ip: ipAddress.optional(),
  coordinates: coordinates.optional(),
  latencies: z
    .record(name, z.number().positive().max(MOST.latencyMs))
    .refine(...atMost(MOST.beacons))
    .optional(),
  attributes: z
    .record(name, attribute)
    .refine(...atMost(MOST.attributes))
    .optional(),
  roles: names(MOST.roles).optional(),
  avoid: names(MOST.avoided).optional(),
})

/**
 * The fault of a player without a location. Latencies replace a location if a latency rule chooses the server's
 * location.
 */
const MUST_BE_SOMEWHERE = 'must have ip, coordinates or both'

export const locatedPlayer = player.refine(
  (one) => one.ip !== undefined || one.coordinates !== undefined || Object.keys(one.latencies ?? {}).length > 0,
  MUST_BE_SOMEWHERE,
)

const schema: z.ZodType<TicketInput> = z
  .strictObject({
    id: ticketId.optional(),
    queue: z.string().optional(),
    queues: names(MOST.queues).min(1).optional(),
    players: z
      .array(locatedPlayer)
      .min(1)
      .max(MOST.players)
      .superRefine((players, context) => {
        const seen = new Set<string>()
        for (const [index, { id }] of players.entries()) {
          if (seen.has(id))
            context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is in this ticket twice' })
          seen.add(id)
        }
      }),
    priority: ticketPriority.optional(),
  })
  .refine(({ queue, queues }) => (queue === undefined) !== (queues === undefined), {
    path: ['queue'],
    message: 'is required unless queues is given',
  })

/** Validates the input of a ticket. @throws {InvalidTicket} naming the path, and the value unless it is an address. */
export const readTicketInput = (input: TicketInput): CheckedTicket => quickRead(input) ?? readBySchema(input)

/** Reads the input by the schema alone. */
export function readBySchema(input: TicketInput): CheckedTicket {
  const { id, queue, queues, players, priority } = readBy(schema, input, invalidTicket)
  return { id, queues: queues ?? [queue as string], players: players.map(complete), priority: priority ?? 0 }
}

export const invalidTicket = (field: string, fieldAndFault: string) =>
  new InvalidTicket(`ticket: ${fieldAndFault}`, { field })

/** Checks that the player is in the ticket. @throws {InvalidTicket} if the player is not in the ticket. */
export function assertPlayerOfTicket(ticket: Pick<Ticket, 'id' | 'players'>, playerId: string): void {
  if (ticket.players.some(({ id }) => id === playerId)) return
  throw invalidTicket('playerId', `playerId: must be a player of ticket ${ticket.id}, got ${JSON.stringify(playerId)}`)
}

// A ticket may be passed for its version, so other fields are ignored.
const waitOptions: z.ZodType<WaitOptions> = z.object({
  version: z.number(),
  signal: having<AbortSignal>('addEventListener', 'removeEventListener').optional(),
  until: z.enum(['assigned', 'match-end']).optional(),
})

/** Validates the options of `waitForChange`. @throws {InvalidInput} naming the option */
export const readWaitOptions = (options: WaitOptions): WaitOptions =>
  readBy(waitOptions, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
