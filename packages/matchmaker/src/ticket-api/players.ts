import { canonicalIp } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { addressUnknown, Problem } from '@muster/core/http'
import { newId } from '@muster/core/runtime'
import type { Attributes, Player } from '@muster/servers'
import type { PlayerBody, PresentBody } from './bodies.js'
import { isBackend, type TicketCaller } from './caller.js'
import { withKnown } from './known.js'
import type { CheckStatements } from './statements.js'
import type { Profiles } from './profiles/profiles.js'
import type { Latencies } from './latencies.js'
import type { Measured } from './measured.js'

/** The sender of a body. */
export interface Speaker {
  readonly caller: TicketCaller
  /** Canonical address of the request. */
  readonly address: string | undefined
}

/**
 * Makes the player that a body describes.
 * @param queues the queues to wait in.
 * @throws {Problem} 400 or 403, naming the key; 503 if the player's profile is not available.
 * @throws {UnknownQueue}
 */
export type ReadPlayer = (body: PlayerBody, speaker: Speaker, queues: readonly string[]) => Player | Promise<Player>

const BACKEND_KEYS = ['player_id', 'coordinates'] as const

const invalid = (field: string, message: string) => new Problem(400, 'invalid-input', `${field}: ${message}`, { field })

/**
 * Refuses keys that only a backend may send.
 * @throws {Problem} 403, naming the key.
 */
export function assertOwnKeys(
  body: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  caller: TicketCaller,
): void {
  if (isBackend(caller)) return
  const key = keys.find((one) => body[one] !== undefined)
  if (key !== undefined)
    throw new Problem(403, 'backend-only', `${key}: only a trusted backend may say that`, { field: key })
}

export interface ReadPlayerOptions {
  readonly measured: Measured
  readonly checkStatements: CheckStatements
  /** Whether a rule of the queue reads latencies. */
  readonly readsLatencies: (queue: string) => boolean
  /** Profiles of players; undefined if only `authenticate` knows about players. */
  readonly profiles: Profiles | undefined
  readonly random: Random
}

export function createReadPlayer(options: ReadPlayerOptions): ReadPlayer {
  const { measured, checkStatements, readsLatencies, profiles, random } = options
  return (body, { caller, address }, queues) => {
    assertOwnKeys(body, BACKEND_KEYS, caller)
    const trusted = isBackend(caller)
    const ip = trusted ? givenIp(body) : address
    if (!trusted && ip === undefined) throw addressUnknown()
    if (trusted && ip === undefined && body.coordinates === undefined) {
      throw invalid('player_ip', 'a backend must say it, or coordinates')
    }
    const reported = reportedBy(body)
    const stated = statedBy(body, trusted ? (body.player_id ?? newId(random)) : caller.id, ip)
    if (!trusted) checkStatements(stated, isMeasured(reported) ? reported : undefined, queues)
    const latencies = measured({ reported, ip, coordinates: body.coordinates, isRead: queues.some(readsLatencies) })
    const profile = trusted ? undefined : profiles?.(stated.id)
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

/** Most players have measured nothing. */
const measuredAs = (stated: Player, latencies: Latencies | undefined): Player =>
  latencies === undefined ? stated : { ...stated, latencies }

/** A player who is in the match already. The latencies are taken as given, because the caller is a backend. */
export function presentPlayer({ player_id: id, attributes: given, roles, avoid }: PresentBody): Player {
  const body = { attributes: given }
  const latencies = Object.fromEntries(Object.entries(reportedBy(body)).filter(([, ms]) => ms > 0))
  return { id, attributes: attributesBy(body), roles, avoid, latencies }
}

/** The latencies, which clients send as the attribute `beacons`. */
const reportedBy = ({ attributes: given }: Pick<PlayerBody, 'attributes'>): Latencies =>
  hasBeacons(given) ? reportedIn(given['beacons']) : NONE

/** The attributes without the latencies. The matchmaker checks them. */
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

/** Whether any beacon was measured: zero stands for a failed ping. */
function isMeasured(reported: Latencies): boolean {
  for (const beacon in reported) if ((reported[beacon] as number) > 0) return true
  return false
}

const NONE: Latencies = Object.freeze({})
/** Most reported latencies: more than there can be beacons. */
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
