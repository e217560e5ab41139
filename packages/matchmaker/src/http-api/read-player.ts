import { canonicalIp } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { addressUnknown, faultOfShownName, newId } from '@muster/core/internal'
import type { Attributes, Player } from '@muster/hosting/internal'
import { unknownQueue } from '../errors.js'
import { type PlayerBody, type PresentBody, SECRET_HEADER } from './bodies.js'
import { isBackend, type PlayerCaller } from './callers.js'
import type { Latencies } from '../locate/index.js'
import type { MeasureLatencies } from './latencies.js'
import type { PlayerProfile, Profiles } from './player-profiles.js'
import type { TicketService } from '../commands.js'

/**
 * Returns the player with all known facts applied.
 * @param profile the profile found for the player.
 * @param claims the profile from the player's token; it overrides `profile`.
 */
function withKnown(stated: Player, profile: PlayerProfile | undefined, claims: PlayerProfile | undefined): Player {
  if (profile === undefined && claims === undefined) return stated
  return {
    ...stated,
    attributes: { ...stated.attributes, ...profile?.attributes, ...claims?.attributes },
    roles: claims?.roles ?? profile?.roles ?? stated.roles,
    avoid: together(stated.avoid, profile?.avoid, claims?.avoid),
  }
}

const NOBODY: readonly string[] = Object.freeze([])

const together = (...lists: readonly (readonly string[] | undefined)[]): readonly string[] =>
  lists.every((list) => list === undefined) ? NOBODY : [...new Set(lists.flatMap((list) => list ?? []))]

/** The sender of a body. */
export interface RequestSender {
  readonly caller: PlayerCaller
  /** Canonical address of the request. */
  readonly address: string | undefined
}

/**
 * Makes the player that a body describes.
 * @param queues the queues that the player wants to wait in.
 * @throws {Problem} 400 or 403, naming the key; 503 if the player's profile is not available.
 * @throws {UnknownQueue}
 */
export type ReadPlayer = (
  body: PlayerBody,
  sender: RequestSender,
  queues: readonly string[],
) => Player | Promise<Player>

const BACKEND_KEYS = ['player_id', 'coordinates'] as const
const BACKEND_KEYS_OF_SHARED = ['coordinates'] as const

/** Maximum length of the name of a player who shares a token. The id made from the name must not become too long. */
const LONGEST_NAME = 80

/** Returns the id of a player who shares a token. @throws {Problem} 400 */
function sharedId(shared: NonNullable<PlayerCaller['shared']>, body: PlayerBody): string {
  const { player_id: name, player_secret: secret = shared.secret } = body
  if (shared.secret !== undefined && secret !== shared.secret)
    throw invalid('player_secret', `must be the same as the header ${SECRET_HEADER}`)
  if (name === undefined && secret !== undefined)
    throw invalid('player_id', `must be given with player_secret or the header ${SECRET_HEADER}`)
  if (name !== undefined && secret === undefined)
    throw invalid('player_secret', 'must be given with player_id: a random text that the client makes once and keeps')
  if (name !== undefined && name.length > LONGEST_NAME)
    throw invalid('player_id', `must have at most ${LONGEST_NAME} characters, got ${name.length}`)
  // The name is the first part of the id, which other players read.
  const fault = name === undefined ? undefined : faultOfShownName(name)
  if (fault !== undefined) throw invalid('player_id', fault)
  return shared.idOf(name, secret)
}

const invalid = (field: string, message: string) => new Problem(400, 'invalid-input', `${field}: ${message}`, { field })

/**
 * Refuses keys that only a backend may send.
 * @throws {Problem} 403, naming the key.
 */
export function assertOwnKeys(
  body: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  caller: PlayerCaller,
): void {
  if (isBackend(caller)) return
  const key = keys.find((one) => body[one] !== undefined)
  if (key !== undefined)
    throw new Problem(403, 'backend-only', `${key}: only a trusted backend may send this field`, { field: key })
}

interface ReadPlayerOptions {
  readonly measured: MeasureLatencies
  readonly checkStatements: CheckStatements
  /** True if a rule of the queue reads latencies. */
  readonly readsLatencies: (queue: string) => boolean
  /** Profiles of players; undefined if only `authenticate` knows about players. */
  readonly profiles: Profiles | undefined
  readonly random: Random
}

export function createReadPlayer(options: ReadPlayerOptions): ReadPlayer {
  const { measured, checkStatements, readsLatencies, profiles, random } = options
  return (body, { caller, address }, queues) => {
    const { shared } = caller
    assertOwnKeys(body, shared === undefined ? BACKEND_KEYS : BACKEND_KEYS_OF_SHARED, caller)
    if (shared === undefined && body.player_secret !== undefined)
      throw invalid('player_secret', 'is only for players who share a token: leave it out')
    const trusted = isBackend(caller)
    const ip = trusted ? givenIp(body) : address
    if (!trusted && ip === undefined) throw addressUnknown()
    if (trusted && ip === undefined && body.coordinates === undefined) {
      throw invalid('player_ip', 'a backend must send player_ip or coordinates')
    }
    const reported = reportedBy(body)
    const ownId = shared === undefined ? caller.id : sharedId(shared, body)
    const stated = statedBy(body, trusted ? (body.player_id ?? newId(random)) : ownId, ip)
    if (!trusted) checkStatements(stated, isMeasured(reported) ? reported : undefined, queues)
    const latencies = measured({ reported, ip, coordinates: body.coordinates, isRead: queues.some(readsLatencies) })
    // The name of a player who shares a token is unproven, so no profile is looked up for it.
    const profile = trusted || shared !== undefined ? undefined : profiles?.(stated.id)
    const claims = trusted ? undefined : caller.profile
    return latencies instanceof Promise || profile instanceof Promise
      ? Promise.all([latencies, profile]).then(([found, known]) => withKnown(measuredAs(stated, found), known, claims))
      : withKnown(measuredAs(stated, latencies), profile, claims)
  }
}

const statedBy = (body: PlayerBody, id: string, ip: string | undefined): Player => ({
  id,
  ip,
  coordinates: body.coordinates,
  latencies: undefined,
  attributes: attributesBy(body),
  roles: body.roles,
  avoid: body.avoid,
})

/** Returns the player with their latencies. Most players have none: then nothing is copied. */
const measuredAs = (stated: Player, latencies: Latencies | undefined): Player =>
  latencies === undefined ? stated : { ...stated, latencies }

/**
 * Returns a player who is in the match already. The latencies are accepted unchecked, because the caller is a backend.
 */
export function presentPlayer({ player_id: id, attributes: given, roles, avoid }: PresentBody): Player {
  const body = { attributes: given }
  const latencies = Object.fromEntries(Object.entries(reportedBy(body)).filter(([, ms]) => ms > 0))
  return { id, attributes: attributesBy(body), roles, avoid, latencies }
}

/** Returns the latencies, which clients send as the attribute `beacons`. */
const reportedBy = ({ attributes: given }: Pick<PlayerBody, 'attributes'>): Latencies =>
  hasBeacons(given) ? reportedIn(given['beacons']) : NONE

/** Returns the attributes without the latencies. The matchmaker checks them. */
function attributesBy({ attributes: given }: Pick<PlayerBody, 'attributes'>): Attributes | undefined {
  if (!hasBeacons(given)) return (given ?? undefined) as Attributes | undefined
  const { beacons: _, ...attributes } = given
  return attributes as Attributes
}

const hasBeacons = (given: PlayerBody['attributes']): given is NonNullable<typeof given> =>
  given !== undefined && given !== null && Object.hasOwn(given, 'beacons')

function givenIp({ player_ip: given }: PlayerBody): string | undefined {
  if (given === undefined || given === null || given === '') return undefined
  const ip = canonicalIp(given)
  if (ip === undefined) throw invalid('player_ip', 'must be an IPv4 or IPv6 address')
  return ip
}

/** True if any beacon was measured. A latency of zero means a failed ping. */
function isMeasured(reported: Latencies): boolean {
  for (const beacon in reported) if ((reported[beacon] as number) > 0) return true
  return false
}

const NONE: Latencies = Object.freeze({})
/** Maximum number of reported latencies: more than there can be beacons. */
const MOST_REPORTED = 256

function reportedIn(beacons: unknown): Latencies {
  if (beacons === null) return NONE
  const field = 'attributes.beacons'
  if (typeof beacons !== 'object' || Array.isArray(beacons)) throw invalid(field, 'must be an object')
  const entries = Object.entries(beacons)
  if (entries.length > MOST_REPORTED) throw invalid(field, `must have at most ${MOST_REPORTED} keys`)
  const wrong = entries.find(([, ms]) => typeof ms !== 'number')
  if (wrong !== undefined) throw invalid(`${field}.${wrong[0].slice(0, 128)}`, 'must be a number of milliseconds')
  return beacons as Latencies
}

/** The fields of a player's own request that a queue may distrust. */
type Stated = Pick<Player, 'attributes' | 'roles' | 'avoid'>

/**
 * Rejects fields of a player's request that a queue distrusts.
 * @param latencies as the player reports them; undefined if none was measured.
 * @throws {Problem} 400 naming the field.
 * @throws {UnknownQueue}
 */
type CheckStatements = (stated: Stated, latencies: Player['latencies'] | undefined, queues: readonly string[]) => void

/**
 * Creates the check of players' own statements.
 * @param names returns the names of all queues, for the error about an unknown queue.
 */
export function createCheckStatements(
  service: Pick<TicketService, 'playerMayState'>,
  names: () => readonly string[],
): CheckStatements {
  return ({ attributes, roles, avoid }, latencies, queues) => {
    for (const queue of queues) {
      const believed = service.playerMayState(queue)
      if (believed === undefined) throw unknownQueue(queue, names())
      for (const name in attributes) if (!believed(name)) throw refused(`attributes.${name}`, name, queue)
      if (roles !== undefined && roles.length > 0 && !believed('roles')) throw refused('roles', 'roles', queue)
      if (avoid !== undefined && avoid.length > 0 && !believed('avoid')) throw refused('avoid', 'avoid', queue)
      if (latencies !== undefined && !believed('latencies')) throw refused('attributes.beacons', 'latencies', queue)
    }
  }
}

/** Returns the problem for a distrusted field. Names are shortened, because they may have any length. */
function refused(field: string, name: string, queue: string): Problem {
  const short = field.slice(0, 140)
  const listed = JSON.stringify(name.slice(0, 128))
  const inQueue = `players may not set it in queue ${JSON.stringify(queue)}`
  const message = `${short}: ${inQueue}, unless its playerMayState lists ${listed}`
  return new Problem(400, 'not-believed', message, { field: short })
}
