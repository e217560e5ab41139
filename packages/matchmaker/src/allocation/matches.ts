import type { Match } from './match.js'

/** The matches of which a deployment exists or may exist, by whatever one knows of them. */
export interface Matches {
  add(match: Match): void
  /** It is known under which id its deployment exists. */
  identify(match: Match, requestId: string): void
  remove(match: Match): void
  find(matchId: string): Match | undefined
  byRequest(requestId: string): Match | undefined
  byTags(tags: readonly string[]): Match | undefined
  all(): MapIterator<Match>
}

export function createMatches(): Matches {
  const matches = new Map<string, Match>()
  const tagged = new Map<string, Match>()
  const requested = new Map<string, Match>()
  return {
    add: (match) => {
      matches.set(match.matchId, match)
      tagged.set(match.tag, match)
    },
    identify: (match, requestId) => {
      match.requestId = requestId
      requested.set(requestId, match)
    },
    remove: (match) => {
      matches.delete(match.matchId)
      tagged.delete(match.tag)
      if (match.requestId !== undefined) requested.delete(match.requestId)
    },
    find: (matchId) => matches.get(matchId),
    byRequest: (requestId) => requested.get(requestId),
    byTags: (tags) => {
      for (const tag of tags) {
        const match = tagged.get(tag)
        if (match !== undefined) return match
      }
      return undefined
    },
    all: () => matches.values(),
  }
}
