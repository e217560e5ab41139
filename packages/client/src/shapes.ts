/**
 * The shapes of Muster's responses, limited to the members that the client reads. A type with `?` may be null or
 * missing. `[]` is a list. `{}` is an object whose values have the type. `object` has any members. The engines have the
 * same table.
 */
const SHAPES: Record<string, Readonly<Record<string, string>>> = {
  me: { tickets: 'ticket[]', groups: 'member[]', matches: 'running[]', seats: 'seat[]?' },
  ticket: {
    id: 'text',
    profile: 'text',
    status: 'text',
    version: 'count',
    group_id: 'text?',
    match_id: 'text?',
    assignment: 'assignment?',
    acceptance: 'acceptance?',
    cancel_reason: 'text?',
    ended: 'ended?',
    estimated_wait: 'wait?',
  },
  assignment: { fqdn: 'text', ports: 'object{}', location: 'place?', join_token: 'text?' },
  place: { city: 'text?' },
  acceptance: { accepted: 'boolean', until: 'text' },
  ended: { reason: 'text' },
  wait: { p50_seconds: 'number', p90_seconds: 'number?' },
  member: { group_id: 'text', member_id: 'text', is_ready: 'boolean', status: 'text', ticket_id: 'text?' },
  group: { status: 'text', members: 'gathered[]' },
  gathered: { player_id: 'text', is_ready: 'boolean' },
  running: { match_id: 'text', assignment: 'assignment?' },
  seat: { assignment: 'assignment?' },
  beacons: { beacons: 'beacon[]' },
  beacon: { fqdn: 'text?', public_ip: 'text', udp_port: 'number?', tcp_port: 'number?', location: 'place' },
  streamToken: { token: 'text' },
  explained: { summary: 'text' },
}

/** Adds shapes that only one entry point needs, so that the bundles of others do not contain them. */
export const addShapes = (more: typeof SHAPES): void => void Object.assign(SHAPES, more)

/** Returns true if a value has the given type, e.g. `text` or `ticket`. A value of another type is not from Muster. */
export function fits(type: string, value: unknown): boolean {
  if (type.endsWith('?')) return value === undefined || value === null || fits(type.slice(0, -1), value)
  const of = type.slice(0, -2)
  if (type.endsWith('[]')) return Array.isArray(value) && value.every((item) => fits(of, item))
  if (type.endsWith('{}')) return isObject(value) && Object.values(value).every((member) => fits(of, member))
  if (type === 'anything') return true
  if (type === 'text') return typeof value === 'string'
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number') return Number.isFinite(value)
  if (type === 'count') return Number.isSafeInteger(value) && (value as number) >= 0
  if (!isObject(value)) return false
  return Object.entries(SHAPES[type] ?? {}).every(([name, field]) => fits(field, value[name]))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
