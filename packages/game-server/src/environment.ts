import type { WireMatch, WirePlayer } from './wire.js'

/** The variables of the process, or those of a test. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A port of the deployment. */
export interface ServerPort {
  /** Where the server listens, inside its container. */
  readonly internal: number
  /** Where players connect. */
  readonly external: number
  /** `TCP`, `UDP`, `TCP/UDP`, `HTTP`, `HTTPS`, `WS` or `WSS`. */
  readonly protocol: string
}

/**
 * The ports of the deployment by name, from SERVICE_PORTS_MAPPING (public fact); without it, those of the variables
 * SERVICE_PORT_{NAME}_INTERNAL, _EXTERNAL and _PROTOCOL, with names in lower case.
 */
export function portsIn(env: Environment): Readonly<Record<string, ServerPort>> {
  const mapping = jsonIn(env['SERVICE_PORTS_MAPPING']) as
    { readonly ports?: Readonly<Record<string, ServerPort>> } | undefined
  if (mapping?.ports !== undefined) return mapping.ports
  const ports: Record<string, ServerPort> = {}
  for (const [key, value] of Object.entries(env)) {
    const name = /^SERVICE_PORT_(.+)_INTERNAL$/.exec(key)?.[1]
    const internal = Number(value)
    if (name === undefined || !Number.isInteger(internal)) continue
    const external = Number(env[`SERVICE_PORT_${name}_EXTERNAL`] ?? internal)
    ports[name.toLowerCase()] = { internal, external, protocol: env[`SERVICE_PORT_${name}_PROTOCOL`] ?? 'UDP' }
  }
  return ports
}

/** The match that the variables MM_* describe; undefined if there is none. */
export function matchIn(env: Environment): WireMatch | undefined {
  const id = env['MM_MATCH_ID']
  if (id === undefined) return undefined
  const players = (ticketId: string): WirePlayer[] => {
    const ticket = jsonIn(wholeOf(env, `MM_TICKET_${ticketId}`)) as
      { players?: string[]; attributes?: Record<string, unknown> } | undefined
    const ids = ticket?.players ?? []
    return ids.map((player) => ({
      id: player,
      ticket_id: ticketId,
      ...(ids.length === 1 && { attributes: ticket?.attributes }),
    }))
  }
  const teams = (jsonIn(wholeOf(env, 'MM_TEAMS')) ?? {}) as Readonly<Record<string, readonly string[]>>
  return {
    id,
    profile: env['MM_MATCH_PROFILE'] ?? '',
    teams: Object.entries(teams).map(([name, tickets]) => ({ name, players: tickets.flatMap(players) })),
    equality: (jsonIn(wholeOf(env, 'MM_EQUALITY')) ?? {}) as Record<string, unknown>,
    intersection: (jsonIn(wholeOf(env, 'MM_INTERSECTION')) ?? {}) as Record<string, string[]>,
  }
}

/** A match of the players that MUSTER_LOCAL_PLAYERS names: `ann,ben`, or `red:ann,blue:ben` with teams. */
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

/** A value that is too large for one variable comes in KEY_PARTS parts, KEY_PART_1 and so on. */
function wholeOf(env: Environment, key: string): string | undefined {
  const count = Number(env[`${key}_PARTS`])
  if (!(count > 0)) return env[key]
  return Array.from({ length: count }, (_, index) => env[`${key}_PART_${index + 1}`] ?? '').join('')
}

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
