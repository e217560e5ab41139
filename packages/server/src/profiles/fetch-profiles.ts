import { isObject, jsonIn } from '@muster/core/internal'
import type { PlayerProfile } from '@muster/matchmaker'
import { z } from 'zod'

/**
 * The response: `{ "players": { "<player id>": { "attributes": { "skill": 1510 }, "roles": ["tank"], "avoid": ["<player
 * id>"] } } }`. A player who is missing has no profile. Other members, and attributes of null, are ignored.
 */
const answerSchema = z.looseObject({
  players: z.custom<Readonly<Record<string, unknown>>>(isObject, 'must hold profiles by the ids of the players'),
})

/**
 * Reads the profiles of the requested players. The ticket API validates each profile later, so an invalid profile fails
 * only for its player.
 * @throws {Error} for a response of another shape
 */
function readAnswer(text: string, ids: readonly string[]): ReadonlyMap<string, PlayerProfile> {
  const answer = jsonIn(text)
  if (answer === undefined) throw new Error('the answer of the profiles URL is not JSON')
  const { success, data, error } = answerSchema.safeParse(answer)
  if (!success) {
    const [{ path, message } = { path: [], message: 'is not valid' }] = error.issues
    throw new Error(`in the answer of the profiles URL, ${path.join('.') || 'the body'} ${message}`)
  }
  const profiles = new Map<string, PlayerProfile>()
  for (const id of ids) if (Object.hasOwn(data.players, id)) profiles.set(id, profileOf(data.players[id]))
  return profiles
}

/** Returns the known members of a profile. Anything but an object is returned unchanged, and rejected later. */
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
  /** The game backend's URL, which gets `POST { player_ids: […] }`. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined
  /** Maximum size of a response in bytes. Default 8 MiB, which is 16 KiB for each of 500 players. */
  readonly largestAnswer?: number | undefined
}

/** Requests players' profiles from the game backend. */
export type FetchedProfiles = ReturnType<typeof createFetchProfiles>

/** Number of connections to the game backend. The ticket API makes at most four calls at a time. */
const CONNECTIONS = 4
const LARGEST = 8 * 1024 * 1024

/**
 * Creates a function that requests the profiles of many players in one HTTP call. Redirects are not followed, because
 * the token would be sent to their target. Errors name neither the address nor a player.
 */
export function createFetchProfiles(options: FetchProfilesOptions) {
  const { url, token, largestAnswer = LARGEST } = options
  // The library undici is imported lazily, because it takes long to load and is not needed before the first player.
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
      throw new Error(`the URL of the profiles answered with HTTP ${answer.statusCode}`)
    }
    return readAnswer(await answer.body.text().catch(fail), ids)
  }
  return {
    resolve,
    /** Closes the connections. */
    close: async () => (await opened)?.dispatcher.close(),
  }
}

/** Rethrows only the error's code or name, because messages of network errors contain addresses. */
function fail(error: unknown): never {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') throw new Error(error.code)
  throw new Error(error instanceof Error ? error.name : 'failed')
}
