import type { Attributes, Player, Queue } from '@muster/matchmaker'
import { attributesComparedBy } from '@muster/matchmaker/internal'
import { CITIES } from '../crowd/index.js'
import type { Checking, FieldPath } from './checking.js'
import {
  type DefaultsForm,
  PLAYER_FIELDS,
  type PlayerForm,
  TICKET_FIELDS,
  type TicketForm,
  ticketSchema,
} from './scene-schema.js'
import type { SceneTicket } from './scene.js'

/** Returns the attributes that rules of these queues compare. */
export const comparedAttributes = (queues: readonly Queue[]): ReadonlySet<string> =>
  new Set(queues.flatMap(({ rules }) => rules.flatMap(attributesComparedBy)))

/** Returns the names of the teams of one match. */
export const teamNames = ({ teams }: Queue): string[] =>
  teams.flatMap(({ name, count = 1 }) =>
    count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`),
  )

/** Settings of tickets or players, from any level: the file, the scene (one test), the ticket or the player. */
type Form = Partial<TicketForm>

/**
 * Groups of fields that replace one another. If a nearer level has a field of a group, all fields of that group on
 * further levels are ignored. A player with coordinates thus gets no city from the defaults.
 */
const TOGETHER: readonly (readonly (keyof TicketForm)[])[] = [
  ['queue', 'queues'],
  ['city', 'coordinates', 'ip'],
  ['party', 'players'],
]

/** Returns two fields of one level that contradict each other; undefined if there are none. */
const contradictionIn = (form: Form) =>
  TOGETHER.map((fields) => fields.filter((field) => form[field] !== undefined)).find(({ length }) => length > 1)

/** Merges two levels of settings. `near` takes precedence over `far`. */
export function layered<Far extends Form, Near extends Form | PlayerForm>(far: Far, near: Near): Far & Near {
  const hidden: readonly string[] = TOGETHER.filter((fields) =>
    fields.some((field) => (near as Form)[field] !== undefined),
  ).flat()
  const kept = Object.fromEntries(Object.entries(far).filter(([name]) => !hidden.includes(name))) as Far
  const attributes = { ...far.attributes, ...near.attributes }
  return { ...kept, ...near, attributes, short: { ...far.short, ...near.short } }
}

/**
 * Returns the attributes in the settings of a ticket.
 * @param share position of this copy among the copies of the ticket: 0 for the first, 1 for the last.
 */
function attributesIn({ attributes, short = {} }: Form, share: number): Attributes {
  const plain = Object.entries(short).map(([name, value]) => [name, isSpread(value) ? between(value, share) : value])
  return { ...attributes, ...(Object.fromEntries(plain) as Attributes) }
}

interface NumberRange {
  readonly from: number
  readonly to: number
}

const isSpread = (value: Attributes[string] | NumberRange): value is NumberRange =>
  typeof value === 'object' && !Array.isArray(value)

const between = ({ from, to }: NumberRange, share: number) => Math.round((from + (to - from) * share) * 1e6) / 1e6

/** Maximum number of players in a scene. Use a crowd for more. */
const MOST_PLAYERS = 20_000

/** The default location of all players, so that no distance separates them. */
const SOMEWHERE = 'London'

/** The tickets of a scene, and which of them each name denotes. */
export interface CheckedTickets {
  /** The tickets, in order of arrival. */
  readonly tickets: readonly SceneTicket[]
  /** Ids of the tickets that each name denotes; an empty list for an invalid ticket. */
  readonly ids: ReadonlyMap<string, readonly string[]>
  /** For each name, the ticket that arrives last. */
  readonly last: ReadonlyMap<string, SceneTicket>
}

export interface TicketGround {
  readonly checking: Checking
  readonly queues: readonly Queue[]
  /** Default settings of the scene's tickets. */
  readonly defaults: DefaultsForm
}

/** Parses and validates the tickets of a scene. */
export function checkTickets(
  given: Readonly<Record<string, unknown>>,
  path: FieldPath,
  ground: TicketGround,
): CheckedTickets {
  const { checking } = ground
  const ids = new Map<string, readonly string[]>()
  const last = new Map<string, SceneTicket>()
  const tickets: SceneTicket[] = []
  let players = 0
  for (const [name, value] of Object.entries(given)) {
    const here = [...path, name]
    if (!/^[\w-]{1,59}$/.test(name))
      checking.faultOfName(here, 'is not a valid ticket name: 1 to 59 of A–Z, a–z, 0–9, _ and -')
    const { size, made } = ticketsOf(name, value, here, MOST_PLAYERS - players, ground)
    players += size
    const twice = made.find(({ id }) => ids.has(id) || (id !== name && Object.hasOwn(given, id)))
    if (twice !== undefined)
      checking.faultOfName(here, `makes a copy named ${twice.id}, but another ticket has this name: rename one of them`)
    for (const ticket of made) {
      ids.set(ticket.id, [ticket.id])
      last.set(ticket.id, ticket)
    }
    const latest = made.at(-1)
    if (latest !== undefined) last.set(name, latest)
    ids.set(
      name,
      made.map(({ id }) => id),
    )
    tickets.push(...made)
  }
  if (players > MOST_PLAYERS)
    checking.fault(
      path,
      `have ${players} players; a scene may have at most ${MOST_PLAYERS}. For more, use muster lab crowd`,
    )
  const known = { tickets: tickets.toSorted((one, other) => one.at - other.at), ids, last }
  return { ...known, tickets: withAvoided(known, checking) }
}

/**
 * Creates the tickets of one name. Returns them with their number of players. If there are too many, creates no ticket.
 */
function ticketsOf(
  name: string,
  value: unknown,
  path: FieldPath,
  room: number,
  ground: TicketGround,
): { readonly size: number; readonly made: readonly SceneTicket[] } {
  const { checking, queues, defaults } = ground
  const form = checking.read(ticketSchema, value ?? {}, path)
  if (form === undefined) return { size: 0, made: [] }
  const whole = layered(defaults, form)
  const wanted = checkQueueNames(whole, path, ground)
  const compared = queues.filter((queue) => wanted.includes(queue.name))
  checkForm(form, path, TICKET_FIELDS, checking, compared)
  for (const [index, player] of (form.players ?? []).entries())
    checkForm(player, [...path, 'players', String(index)], PLAYER_FIELDS, checking, compared)
  const { count = 1, every = 0, at = 0, priority = 0, answer = 'accept' } = whole
  if (form.every !== undefined && form.count === undefined)
    checking.fault([...path, 'every'], 'needs count, the number of copies')
  const size = count * (whole.players?.length ?? whole.party ?? 1)
  const made = Array.from({ length: size > room ? 0 : count }, (_, index) => {
    const id = form.count === undefined ? name : `${name}-${index + 1}`
    const players = playersOf(id, whole, count === 1 ? 0 : index / (count - 1))
    return { id, path, at: at + index * every, queues: wanted, players, priority, answer }
  })
  return { size, made }
}

function checkQueueNames(
  { queue, queues: several }: Form,
  path: FieldPath,
  { checking, queues }: TicketGround,
): string[] {
  const known = queues.map(({ name }) => name)
  const wanted = several ?? (queue === undefined ? [] : [queue])
  for (const name of wanted) {
    const at = several === undefined ? ['queue'] : ['queues']
    if (!known.includes(name)) checking.unknown([...path, ...at], name, 'queue of the file of queues', known)
  }
  if (wanted.length > 0) return wanted
  if (known.length === 1) return known
  checking.fault(path, `names no queue: write queue, one of ${known.slice(0, 12).join(', ')}`)
  return []
}

/** Reports contradicting fields, unknown cities and misspelt attributes. */
export function checkForm(
  form: Form,
  path: FieldPath,
  fields: readonly string[],
  checking: Checking,
  queues: readonly Queue[],
): void {
  const [one, other] = contradictionIn(form) ?? []
  if (other !== undefined) checking.fault([...path, other], `must not be given with ${one}`)
  if (form.city !== undefined && cityOf(form.city) === undefined)
    checking.unknown([...path, 'city'], form.city, 'city of the list', CITY_NAMES)
  const attributes = comparedAttributes(queues)
  for (const name of Object.keys(form.short ?? {})) {
    if (attributes.has(name) || queues.length === 0) continue
    const near = checking.near(name, [...fields, ...attributes])
    if (near !== undefined) checking.fault([...path, name], `is not known; did you mean ${near}?`)
    else
      checking.warn(
        [...path, name],
        `is an attribute that no rule compares in ${queues.map((queue) => queue.name).join(', ')}`,
      )
  }
}

const CITY_NAMES = CITIES.map(({ name }) => name)

const cityOf = (wanted: string) => CITIES.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())

function playersOf(ticketId: string, form: Form, share: number): Player[] {
  const each: readonly PlayerForm[] = form.players ?? Array.from({ length: form.party ?? 1 }, () => ({ short: {} }))
  return each.map((own, index) => {
    const whole = layered(form, own)
    const { city, coordinates, ip, latencies, roles, avoid } = whole
    const place = coordinates ?? (ip === undefined ? cityOf(city ?? SOMEWHERE) : undefined)
    return {
      id: own.id ?? (each.length === 1 ? ticketId : `${ticketId}.${index + 1}`),
      ...(ip !== undefined && { ip }),
      ...(place && { coordinates: { latitude: place.latitude, longitude: place.longitude } }),
      ...(latencies && { latencies }),
      ...(roles && { roles }),
      ...(avoid && { avoid }),
      attributes: attributesIn(whole, share),
    }
  })
}

/** Replaces the names of tickets in `avoid` by the ids of their players. */
function withAvoided({ tickets, ids }: CheckedTickets, checking: Checking): readonly SceneTicket[] {
  const playersOfTicket = new Map(tickets.map(({ id, players }) => [id, players.map((player) => player.id)]))
  const playerIds = new Set([...playersOfTicket.values()].flat())
  const unknown = new Map<string, FieldPath>()
  const resolved = (name: string, path: FieldPath): readonly string[] => {
    const meant = ids.get(name)
    if (meant !== undefined) return meant.flatMap((id) => playersOfTicket.get(id) ?? [])
    if (!playerIds.has(name)) unknown.set(name, path)
    return [name]
  }
  const all = tickets.map((ticket) => {
    const players = ticket.players.map(({ avoid, ...player }): Player => {
      if (avoid === undefined) return player
      const avoided = new Set(avoid.flatMap((name) => resolved(name, [...ticket.path, 'avoid'])))
      avoided.delete(player.id)
      return { ...player, avoid: [...avoided] }
    })
    return { ...ticket, players }
  })
  const known = [...ids.keys(), ...playerIds]
  for (const [name, path] of unknown) checking.unknown(path, name, 'ticket or player of this scene', known)
  return all
}
