// pure: the tags by which deployments are found again; limits of a server's environment
import type { DeploymentListEntry } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'

/** The longest tag that the service accepts, in characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
const OF_MATCH = 'match-'

/** The tag of all deployments of one matchmaker, whose name may have up to 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** The tag of the deployment of a match, at its first attempt or a further one. */
export const matchTag = (matchId: string, nth = 1): string =>
  nth === 1 ? `${OF_MATCH}${matchId}` : `${OF_MATCH}${matchId}-${nth}`

/** What a token is derived from: the tag of the attempt without its prefix, so each attempt has another. */
export const credentialOf = (tag: string): string => tag.slice(OF_MATCH.length)
/** The tag of the deployment whose token has this credential. */
export const tagOfCredential = (credential: string): string => `${OF_MATCH}${credential}`

/** The ids of servers that tags may contain: each attempt for a match has one. */
export const serverIdsOf = (tags: readonly string[] | null | undefined): readonly string[] =>
  (tags ?? []).filter((tag) => tag.startsWith(OF_MATCH)).map(credentialOf)

/** The match ids that a tag may contain: the whole text, or the text without the number of a further attempt. */
export function matchIdsOf(tag: string): readonly string[] {
  if (!tag.startsWith(OF_MATCH)) return []
  const matchId = tag.slice(OF_MATCH.length)
  const further = /^(.+)-\d+$/.exec(matchId)?.[1]
  return further === undefined ? [matchId] : [matchId, further]
}

/** Whether a tag could be mistaken for one of the matchmaker's own. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_MATCH)

/** Deployments with this tag, newest first. The service filters and sorts (public fact); nothing relies on that. */
export const taggedWith = (tag: string): DeploymentQuery => ({
  filters: [{ field: 'tags', operator: 'in', value: [tag] }],
  order_by: [{ field: 'created_at', order: 'desc' }],
})

/** Whether a listed deployment really has the tag. */
export const hasTag = (entry: DeploymentListEntry, tag: string): boolean => entry.tags?.includes(tag) ?? false

/** The largest value of an environment variable, in bytes of UTF-8 (public fact). */
export const LONGEST_VALUE_BYTES = 4096

/**
 * The largest environment of a deployment, in bytes of all names and values together. The service documents no limit;
 * ours is far below the 2 MiB that Linux gives a program by default for its arguments and environment.
 */
export const LARGEST_ENVIRONMENT_BYTES = 256 * 1024
