/** How good players are, by the results that game servers report: openskill learns from each of them. */
import { InvalidInput, parseResultWebhook } from '@muster/core'
import { ordinal, rate, rating, type Rating } from 'openskill'

/** What a player is shown: a rating starts at 1000, and rises and falls with mu less three sigma. */
export interface Standing {
  readonly id: string
  readonly shown: number
  readonly played: number
  readonly won: number
}

export interface Ratings {
  /** What a queue compares. */
  readonly of: (playerId: string) => Rating
  readonly standing: (playerId: string) => Standing
  /** The best first. */
  readonly best: (count: number, isListed: (playerId: string) => boolean) => readonly Standing[]
  /** Takes what Muster posts once a match is over. @returns the status of the answer */
  readonly take: (headers: Headers, body: string) => number
}

const START = 1000
const SCALE = 20
/** @param secret with which Muster signs: `whsec_` and base64, as Standard Webhooks have it. */
export function createRatings(secret: string, now: () => number): Ratings {
  const players = new Map<string, { readonly rating: Rating; readonly played: number; readonly won: number }>()
  const taken = new Set<string>()
  const recordOf = (id: string) => players.get(id) ?? { rating: rating(), played: 0, won: 0 }

  /** Undefined unless Muster has signed it. */
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
      // A result whose answer was lost comes again.
      const { id, data } = result
      if (taken.has(id)) return 204
      taken.add(id)
      if (data.ranking?.length === 2) learn(data.ranking)
      return 204
    },
  }
}
