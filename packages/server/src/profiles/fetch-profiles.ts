import type { PlayerProfile, ProfileResolver } from '@muster/matchmaker'
import { readAnswer } from './profile-answer.js'

export interface FetchProfilesOptions {
  /** The studio's address, which is sent `POST { player_ids: […] }`. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined
  /** Bytes of an answer, at most. Default 8 MiB: 16 KiB for each of 500 players. */
  readonly largestAnswer?: number | undefined
}

/** Asks the studio what it knows of players. */
export interface FetchedProfiles {
  readonly resolve: ProfileResolver
  /** Closes the connections. */
  readonly close: () => Promise<void>
}

/** Connections to the studio: the ticket API has four calls under way at most. */
const CONNECTIONS = 4
const LARGEST = 8 * 1024 * 1024

/**
 * Creates a resolver that asks for many players in one HTTP call. Redirects are not followed, for the token would
 * follow them. Its errors name neither the address nor a player.
 */
export function createFetchProfiles(options: FetchProfilesOptions): FetchedProfiles {
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
  return { resolve, close: async () => (await opened)?.dispatcher.close() }
}

/** Codes only: messages of the network hold addresses. */
function fail(error: unknown): never {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') throw new Error(error.code)
  throw new Error(error instanceof Error ? error.name : 'failed')
}
