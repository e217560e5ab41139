/**
 * The shapes of Muster's responses, limited to the members that the server reads. A type with `?` may be null or
 * missing. `[]` is a list. `{}` is an object whose values have the type. `object` has any members. The engines have the
 * same table.
 */
const SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  registered: {
    id: 'text',
    alg: 'text',
    key: 'text',
    version: 'count',
    want: 'text',
    reason: 'text?',
    matches: 'order[]',
    listing: 'listing?',
    host: 'host?',
    knock: 'text?',
  },
  orders: {
    version: 'count',
    want: 'text',
    reason: 'text?',
    matches: 'order[]',
    listing: 'listing?',
    host: 'host?',
    knock: 'text?',
  },
  order: { id: 'text', profile: 'text', teams: 'team[]', equality: 'object?', intersection: 'object?' },
  ticket: { players: 'text[]', attributes: 'object?' },
  team: { name: 'text', players: 'roster[]' },
  roster: { id: 'text', ticket_id: 'text', seat_id: 'text?', attributes: 'object?' },
  claims: {
    aud: 'text',
    sub: 'text',
    mid: 'text',
    sid: 'text',
    team: 'text?',
    grp: 'text?',
    iat: 'number',
    exp: 'number',
  },
  listing: { session: 'text', seats: 'listed[]' },
  listed: { seat_id: 'text', player_id: 'text', team_id: 'text?', group_id: 'text?' },
  host: { session: 'text', name: 'text', password: 'text?', owner: 'text?', attributes: 'object' },
  command: { id: 'number', do: 'text', token: 'text?', player: 'text?', mayReturnMs: 'number?', match: 'text?' },
}

/** Returns true if a value has the given type, e.g. `text` or `orders`. A value of another type is not from Muster. */
export function fits(type: string, value: unknown): boolean {
  if (type.endsWith('?')) return value === undefined || value === null || fits(type.slice(0, -1), value)
  const of = type.slice(0, -2)
  if (type.endsWith('[]')) return Array.isArray(value) && value.every((item) => fits(of, item))
  if (type.endsWith('{}')) return isObject(value) && Object.values(value).every((member) => fits(of, member))
  if (type === 'text') return typeof value === 'string'
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number') return Number.isFinite(value)
  if (type === 'count') return Number.isSafeInteger(value) && (value as number) >= 0
  if (!isObject(value)) return false
  return Object.entries(SHAPES[type] ?? {}).every(([name, field]) => fits(field, value[name]))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
