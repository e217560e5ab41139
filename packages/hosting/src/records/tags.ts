// pure: the tags with which deployments are found again, and limits of a server's environment
import type { DeploymentListEntry } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'

/** Maximum length of a tag in characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
const OF_MATCH = 'match-'

/** Returns the tag of all deployments of one matchmaker, whose name has at most 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** Returns the tag of the deployment of a match, at its first attempt or a further one. */
export const matchTag = (matchId: string, nth = 1): string =>
  nth === 1 ? `${OF_MATCH}${matchId}` : `${OF_MATCH}${matchId}-${nth}`

/**
 * Returns the part of the tag from which a token is derived: the attempt's tag without its prefix. Each attempt has
 * another one.
 */
export const credentialOf = (tag: string): string => tag.slice(OF_MATCH.length)
/** Returns the tag of the deployment whose token has this credential. */
export const tagOfCredential = (credential: string): string => `${OF_MATCH}${credential}`

/** Returns the possible server ids in tags. Each attempt for a match has its own id. */
export const serverIdsOf = (tags: readonly string[] | null | undefined): readonly string[] =>
  (tags ?? []).filter((tag) => tag.startsWith(OF_MATCH)).map(credentialOf)

/** Returns the possible match ids in a tag: the rest after the prefix, also without the number of a further attempt. */
export function matchIdsOf(tag: string): readonly string[] {
  if (!tag.startsWith(OF_MATCH)) return []
  const matchId = tag.slice(OF_MATCH.length)
  const further = /^(.+)-\d+$/.exec(matchId)?.[1]
  return further === undefined ? [matchId] : [matchId, further]
}

/** True if a tag could be mistaken for one of the matchmaker's own. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_MATCH)

/** Returns a query for deployments with this tag, newest first. Muster filters again, in case the service does not. */
export const taggedWith = (tag: string): DeploymentQuery => ({
  filters: [{ field: 'tags', operator: 'in', value: [tag] }],
  order_by: [{ field: 'created_at', order: 'desc' }],
})

/** True if a listed deployment really has the tag. */
export const hasTag = (entry: DeploymentListEntry, tag: string): boolean => entry.tags?.includes(tag) ?? false

/** Maximum size of an environment variable's value, in bytes of UTF-8 (public fact). */
export const LONGEST_VALUE_BYTES = 4096

/**
 * Maximum size of a deployment's environment, in bytes of all names and values together. The service documents no
 * limit. This limit is far below the 2 MiB that Linux gives a program by default for its arguments and environment.
 */
export const LARGEST_ENVIRONMENT_BYTES = 256 * 1024
