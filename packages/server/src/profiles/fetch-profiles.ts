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
function readAnswer(text: string, ids: readonly string[]): ReadonlyMap<string, PlayerProfile> {
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

export interface FetchProfilesOptions {
  /** The studio's address, which is sent `POST { player_ids: […] }`. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined
  /** Bytes of an answer, at most. Default 8 MiB: 16 KiB for each of 500 players. */
  readonly largestAnswer?: number | undefined
}

/** Asks the studio what it knows of players. */
export type FetchedProfiles = ReturnType<typeof createFetchProfiles>

/** Connections to the studio: the ticket API has four calls under way at most. */
const CONNECTIONS = 4
const LARGEST = 8 * 1024 * 1024

/**
 * Creates a resolver that requests many players in one HTTP call. Redirects are not followed, for the token would
 * follow them. Its errors name neither the address nor a player.
 */
export function createFetchProfiles(options: FetchProfilesOptions) {
  const { url, token, largestAnswer = LARGEST } = options
  // Not at the top: it takes long to load, and nobody is asked for before the first player comes.
  const open = async () => {
    const { Agent, request } = await import('undici')
    return { request, dispatcher: new Agent({ connections: CONNECTIONS, maxResponseSize: largestAnswer }) }
  }
  let opened: ReturnType<typeof open> | undefined
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }

  const resolve = async (ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PlayerProfile>> => {
    const body = JSON.stringify({ player_ids: ids })
    const { request, dispatcher } = await (opened ??= open())
    const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal }).catch(fail)
    if (answer.statusCode !== 200) {
      await answer.body.dump()
      throw new Error(`HTTP ${answer.statusCode}`)
    }
    return readAnswer(await answer.body.text().catch(fail), ids)
  }
  return {
    resolve,
    /** Closes the connections. */
    close: async () => (await opened)?.dispatcher.close(),
  }
}

/** Codes only: messages of the network hold addresses. */
function fail(error: unknown): never {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') throw new Error(error.code)
  throw new Error(error instanceof Error ? error.name : 'failed')
}
