import { hostname } from 'node:os'
import { InvalidCall } from './errors.js'
import { fits } from './shapes.js'
import type { WireMatch, WirePlayer } from './wire.js'

/** The variables of the process, or those of a test. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A port of the deployment. */
export interface ServerPort {
  /** The port on which the server listens inside its container. */
  readonly internal: number
  /** The port to which players connect. */
  readonly external: number
  /** `TCP`, `UDP`, `TCP/UDP`, `HTTP`, `HTTPS`, `WS` or `WSS`. */
  readonly protocol: string
}

/** Known prefixes of the services' variables. The first one is in the specification. */
const KNOWN_PREFIXES = ['SERVICE', 'ARBITRIUM']

/**
 * Returns the prefix of the deployment service's variables. It is MUSTER_SERVICE_PREFIX, if set. Otherwise it is the
 * known prefix whose _REQUEST_ID exists (SERVICE: specification, ARBITRIUM: live fact), or else SERVICE.
 */
const servicePrefixIn = (env: Environment): string =>
  env['MUSTER_SERVICE_PREFIX'] || (KNOWN_PREFIXES.find((prefix) => env[`${prefix}_REQUEST_ID`]) ?? 'SERVICE')

/** Returns a variable of the deployment service by its name without the prefix, e.g. DELETE_URL. */
export const serviceVariable = (env: Environment, name: string): string | undefined =>
  env[`${servicePrefixIn(env)}_${name}`]

/**
 * The part of DELETE_URL's path before the request id (service-api, Endpoints). An access point's id follows the
 * request id.
 */
const BEFORE_ID = '/self/stop/'

/**
 * Returns the request id of the deployment in which this process runs; undefined outside of a deployment. It is
 * SERVICE_REQUEST_ID (live fact), or else the id in SERVICE_DELETE_URL (specification). `servicePrefixIn` finds other
 * prefixes.
 */
export function deploymentIn(env: Environment): string | undefined {
  const id = serviceVariable(env, 'REQUEST_ID')
  if (id) return id
  const url = serviceVariable(env, 'DELETE_URL') ?? ''
  const from = url.lastIndexOf(BEFORE_ID)
  const to = from === -1 ? -1 : url.indexOf('/', from + BEFORE_ID.length)
  return (to !== -1 && url.slice(from + BEFORE_ID.length, to)) || undefined
}

/**
 * Returns the ports of the deployment by name. They come from SERVICE_PORTS_MAPPING (public fact). Without it, they
 * come from SERVICE_PORT_{NAME}_INTERNAL, _EXTERNAL and _PROTOCOL, with names in lower case. `servicePrefixIn` finds
 * other prefixes. A port without a number is omitted.
 */
export function portsIn(env: Environment): Readonly<Record<string, ServerPort>> {
  const prefix = servicePrefixIn(env)
  const mapping = membersOf(membersOf(jsonIn(env[`${prefix}_PORTS_MAPPING`]))?.['ports'])
  const ports = new Map<string, ServerPort>()
  for (const [name, value] of Object.entries(mapping ?? {})) {
    const { internal, external, protocol } = membersOf(value) ?? {}
    if (!isPort(internal)) continue
    const outside = isPort(external) ? external : internal
    ports.set(name, { internal, external: outside, protocol: typeof protocol === 'string' ? protocol : 'UDP' })
  }
  for (const [key, value] of mapping === undefined ? Object.entries(env) : []) {
    const isInternal = key.startsWith(`${prefix}_PORT_`) && key.endsWith('_INTERNAL')
    const name = key.slice(`${prefix}_PORT_`.length, -'_INTERNAL'.length)
    const internal = portOf(value)
    if (!isInternal || name === '' || internal === undefined) continue
    const external = portOf(env[`${prefix}_PORT_${name}_EXTERNAL`]) ?? internal
    const protocol = env[`${prefix}_PORT_${name}_PROTOCOL`] ?? 'UDP'
    ports.set(name.toLowerCase(), { internal, external, protocol })
  }
  return Object.fromEntries(ports)
}

/** The body with which a process adds itself to a pool: `EnrolmentBody` of Muster. */
export interface Enrolment {
  readonly key: string
  readonly name: string
  readonly ports: Readonly<Record<string, ServerPort>>
  readonly address: {
    readonly host?: string | undefined
    readonly ports: Readonly<Record<string, { readonly port: number; readonly protocol: string }>>
  }
}

/**
 * Returns the body with which a process that Muster has not started adds itself to a pool; undefined without
 * MUSTER_ENROL_KEY. MUSTER_SERVER_PORTS lists its ports (`game=7777/udp,web=8080/tcp`). MUSTER_SERVER_ADDRESS is the
 * host to which players connect (default: the address from which the request comes). MUSTER_SERVER_NAME names the
 * machine and the slot (default: host name and first port).
 * @throws {InvalidCall} for malformed ports
 */
export function enrolmentIn(env: Environment): Enrolment | undefined {
  const { MUSTER_ENROL_KEY: key, MUSTER_SERVER_NAME, MUSTER_SERVER_ADDRESS, MUSTER_SERVER_PORTS = '' } = env
  if (!key) return undefined
  const listed = MUSTER_SERVER_PORTS.split(',').filter((text) => text.trim() !== '')
  const ports = listed.map((text): readonly [string, ServerPort] => {
    const [, name = '', number = '', protocol = 'udp'] =
      /^\s*([\w-]{1,64})=(\d{1,5})(?:\/([\w/]+))?\s*$/.exec(text) ?? []
    const port = Number(number)
    if (name === '' || !isPort(port) || port === 0)
      throw new InvalidCall('MUSTER_SERVER_PORTS', `must be such as game=7777/udp, got ${JSON.stringify(text)}`)
    return [name, { internal: port, external: port, protocol: protocol.toUpperCase() }]
  })
  const slot = ports[0]?.[1].external ?? process.pid
  return {
    key,
    name: MUSTER_SERVER_NAME || `${hostname()}:${slot}`,
    ports: Object.fromEntries(ports),
    address: {
      ...(MUSTER_SERVER_ADDRESS && { host: MUSTER_SERVER_ADDRESS }),
      ports: Object.fromEntries(ports.map(([name, { external, protocol }]) => [name, { port: external, protocol }])),
    },
  }
}

const isPort = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535
const portOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,5}$/.test(text) && isPort(Number(text)) ? Number(text) : undefined
/** Returns an object as a record; undefined for any other value. */
const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined

/** Returns the match that the MM_* variables describe; undefined if there is none. */
export function matchIn(env: Environment): WireMatch | undefined {
  const id = env['MM_MATCH_ID']
  if (!id) return undefined
  const players = (ticketId: string): WirePlayer[] => {
    const ticket = jsonIn(wholeOf(env, `MM_TICKET_${ticketId}`))
    if (!fits('ticket', ticket)) return []
    const { players: ids, attributes } = ticket as { players: string[]; attributes?: Record<string, unknown> | null }
    return ids.map((player) => ({
      id: player,
      ticket_id: ticketId,
      ...(ids.length === 1 && { attributes: attributes ?? undefined }),
    }))
  }
  const read = <Value>(name: string, type: string): Readonly<Record<string, Value>> => {
    const value = jsonIn(wholeOf(env, name))
    return fits(type, value) ? (value as Record<string, Value>) : {}
  }
  const teams = read<readonly string[]>('MM_TEAMS', 'text[]{}')
  const groups = read<readonly string[]>('MM_GROUPS', 'text[]{}')
  /**
   * Returns the tickets of a group, one for each player. Before version 0.2, Muster gave a party one ticket with the
   * group's id.
   */
  const ticketsOf = (group: string): readonly string[] => {
    const tickets = Object.hasOwn(groups, group) ? (groups[group] ?? []) : []
    return tickets.length > 0 && tickets.every((one) => players(one).length > 0) ? tickets : [group]
  }
  return {
    id,
    profile: env['MM_MATCH_PROFILE'] ?? '',
    teams: Object.entries(teams).map(([name, tickets]) => ({
      name,
      players: tickets.flatMap(ticketsOf).flatMap(players),
    })),
    equality: read('MM_EQUALITY', 'object'),
    intersection: read('MM_INTERSECTION', 'text[]{}'),
  }
}

/** Creates a match of the players in MUSTER_LOCAL_PLAYERS: `ann,ben`, or `red:ann,blue:ben` with teams. */
export function localMatch(names: string): WireMatch {
  const teams = new Map<string, WirePlayer[]>()
  for (const text of names.split(',')) {
    const [first = '', second] = text.trim().split(':')
    const [team, id] = second === undefined ? ['', first] : [first, second]
    if (id === '') continue
    const players = teams.get(team) ?? []
    teams.set(team, players)
    players.push({ id, ticket_id: `local-${id}` })
  }
  return { id: 'local', profile: 'local', teams: [...teams].map(([name, players]) => ({ name, players })) }
}

/** Maximum number of parts of a value. Muster writes fewer, because all variables of a server have at most 256 KiB. */
const MOST_PARTS = 1024
/**
 * Returns the value of a variable. A value that is too large for one variable has KEY_PARTS parts: KEY_PART_1 and so
 * on.
 */
function wholeOf(env: Environment, key: string): string | undefined {
  const count = Number(env[`${key}_PARTS`])
  if (!(count > 0 && count <= MOST_PARTS)) return env[key]
  return Array.from({ length: count }, (_, index) => env[`${key}_PART_${index + 1}`] ?? '').join('')
}

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
