/** The ratings of players. openskill computes them from the results that game servers report. */
import { InvalidInput, parseResultWebhook } from '@muster/core'
import { ordinal, rate, rating, type Rating } from 'openskill'

/** A rating as players see it. It begins at 1000, and rises and falls with mu minus three sigma. */
export interface Standing {
  readonly id: string
  readonly shown: number
  readonly played: number
  readonly won: number
}

export interface Ratings {
  /** Returns the rating that a queue compares. */
  readonly of: (playerId: string) => Rating
  readonly standing: (playerId: string) => Standing
  /** Returns the players with the highest ratings, the best first. */
  readonly best: (count: number, isListed: (playerId: string) => boolean) => readonly Standing[]
  /** Applies a result that Muster has posted. @returns the status of the response */
  readonly take: (headers: Headers, body: string) => number
}

const START = 1000
const SCALE = 20
/**
 * Creates the ratings. @param secret the secret with which Muster signs results: `whsec_` and base64, as in Standard
 * Webhooks.
 */
export function createRatings(secret: string, now: () => number): Ratings {
  const players = new Map<string, { readonly rating: Rating; readonly played: number; readonly won: number }>()
  const taken = new Set<string>()
  const recordOf = (id: string) => players.get(id) ?? { rating: rating(), played: 0, won: 0 }

  /** Returns the result in a webhook; undefined unless Muster has signed it. */
  const resultIn = (headers: Headers, body: string) => {
    try {
      return parseResultWebhook(secret, headers, body, now())
    } catch (error) {
      if (error instanceof InvalidInput) return undefined
      throw error
    }
  }
  const learn = (teams: readonly (readonly string[])[]) => {
    const rated = rate(teams.map((team) => team.map((id) => recordOf(id).rating)))
    for (const [rank, team] of teams.entries())
      for (const [nth, id] of team.entries()) {
        const { rating: before, played, won } = recordOf(id)
        players.set(id, { rating: rated[rank]?.[nth] ?? before, played: played + 1, won: won + (rank === 0 ? 1 : 0) })
      }
  }
  const standing = (id: string): Standing => {
    const { rating: current, played, won } = recordOf(id)
    return { id, shown: Math.round(START + SCALE * ordinal(current)), played, won }
  }

  return {
    of: (id) => recordOf(id).rating,
    standing,
    best: (count, isListed) => {
      const listed = [...players.keys()].filter(isListed).map(standing)
      return listed.toSorted((one, other) => other.shown - one.shown).slice(0, count)
    },
    take: (headers, body) => {
      const result = resultIn(headers, body)
      if (result === undefined) return 401
      // Muster sends a result again if the response was lost, so it is applied only once.
      const { id, data } = result
      if (taken.has(id)) return 204
      taken.add(id)
      if (data.ranking?.length === 2) learn(data.ranking)
      return 204
    },
  }
}
