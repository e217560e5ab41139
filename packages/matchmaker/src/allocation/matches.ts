import { matchIdsOf } from '../tags.js'
import type { Match, MatchPhase } from './match.js'

/** The matches of which a deployment exists or may exist, by whatever one knows of them. */
export interface Matches {
  add(match: Match): void
  /** Every change of a phase, so that those to which no players were sent yet are counted. */
  enter(match: Match, phase: MatchPhase): void
  /** It is known under which id its deployment exists. */
  identify(match: Match, requestId: string): void
  /** Its deployment is gone. */
  release(match: Match): void
  remove(match: Match): void
  find(matchId: string): Match | undefined
  byRequest(requestId: string): Match | undefined
  byTags(tags: readonly string[]): Match | undefined
  all(): MapIterator<Match>
  /** Those that have no players, and are not being stopped. */
  starting(): SetIterator<Match>
  count(): number
  startingCount(): number
}

export function createMatches(): Matches {
  const matches = new Map<string, Match>()
  const requested = new Map<string, Match>()
  const starting = new Set<Match>()
  const release = (match: Match) => {
    if (match.requestId !== undefined) requested.delete(match.requestId)
    match.requestId = undefined
  }
  return {
    add: (match) => {
      matches.set(match.matchId, match)
      starting.add(match)
    },
    enter: (match, phase) => {
      match.phase = phase
      if (phase === 'running' || phase === 'stopping') starting.delete(match)
    },
    identify: (match, requestId) => {
      match.requestId = requestId
      requested.set(requestId, match)
    },
    release,
    remove: (match) => {
      matches.delete(match.matchId)
      starting.delete(match)
      if (match.requestId !== undefined) requested.delete(match.requestId)
    },
    find: (matchId) => matches.get(matchId),
    byRequest: (requestId) => requested.get(requestId),
    byTags: (tags) => {
      for (const tag of tags) {
        for (const matchId of matchIdsOf(tag)) {
          const match = matches.get(matchId)
          if (match?.tag === tag) return match
        }
      }
      return undefined
    },
    all: () => matches.values(),
    starting: () => starting.values(),
    count: () => matches.size,
    startingCount: () => starting.size,
  }
}
