// pure: the studio's answer about players
import type { PlayerProfile } from '@muster/matchmaker'
import { z } from 'zod'

/**
 * `{ "players": { "<player id>": { "attributes": { "skill": 1510 }, "roles": ["tank"], "avoid": ["<player id>"] } } }`.
 * A player that is missing is not known. Further members are ignored, and so is an attribute of null.
 */
const answerSchema = z.looseObject({
  players: z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must hold profiles by the ids of the players',
  ),
})

/**
 * Reads the profiles of the players that were asked for. Whether each is right is checked by the ticket API, so that a
 * wrong one fails for its player alone.
 * @throws {Error} for an answer of another shape
 */
export function readAnswer(text: string, ids: readonly string[]): ReadonlyMap<string, PlayerProfile> {
  const { success, data, error } = answerSchema.safeParse(parse(text))
  if (!success) {
    const [{ path, message } = { path: [], message: 'is wrong' }] = error.issues
    throw new Error(`the answer${path.length === 0 ? '' : `'s ${path.join('.')}`} ${message}`)
  }
  const profiles = new Map<string, PlayerProfile>()
  for (const id of ids) if (Object.hasOwn(data.players, id)) profiles.set(id, profileOf(data.players[id]))
  return profiles
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the answer is no JSON')
  }
}

/** The members that a profile has; anything that is no object is passed on, and refused. */
function profileOf(given: unknown): PlayerProfile {
  if (typeof given !== 'object' || given === null) return given as PlayerProfile
  const { attributes, roles, avoid } = given as Readonly<Record<string, unknown>>
  const profile = {
    ...(hasValue(attributes) && { attributes: withoutNulls(attributes) }),
    ...(hasValue(roles) && { roles }),
    ...(hasValue(avoid) && { avoid }),
  }
  return profile as PlayerProfile
}

const hasValue = (value: unknown) => value !== undefined && value !== null

const withoutNulls = (attributes: unknown): unknown =>
  typeof attributes === 'object' && !Array.isArray(attributes)
    ? Object.fromEntries(Object.entries(attributes as object).filter(([, value]) => value !== null))
    : attributes
