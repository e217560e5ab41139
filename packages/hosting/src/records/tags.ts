// pure: the tags by which deployments are found again, and limits of environments
import type { DeploymentListEntry } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'

/** Maximum length of a tag in characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
const OF_MATCH = 'match-'

/** Returns the tag that all deployments of a matchmaker have. The matchmaker's name has at most 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** Returns the tag of a server's deployment. @param nth number of the attempt, from 1 */
export const matchTag = (matchId: string, nth = 1): string =>
  nth === 1 ? `${OF_MATCH}${matchId}` : `${OF_MATCH}${matchId}-${nth}`

/**
 * Returns the credential in a deployment's tag: the server's id, followed by the number of a further attempt. The
 * server's token is derived from it.
 */
export const credentialOf = (tag: string): string => tag.slice(OF_MATCH.length)
/** Returns the tag of the deployment with this credential. */
export const tagOfCredential = (credential: string): string => `${OF_MATCH}${credential}`

/** Returns the credentials in the tags of a deployment. */
export const serverIdsOf = (tags: readonly string[] | null | undefined): readonly string[] =>
  (tags ?? []).filter((tag) => tag.startsWith(OF_MATCH)).map(credentialOf)

/**
 * Returns the server ids that a tag may contain: `match-a-2` may be the first attempt of `a-2` or the second of `a`.
 */
export function matchIdsOf(tag: string): readonly string[] {
  if (!tag.startsWith(OF_MATCH)) return []
  const matchId = tag.slice(OF_MATCH.length)
  const further = /^(.+)-\d+$/.exec(matchId)?.[1]
  return further === undefined ? [matchId] : [matchId, further]
}

/** True if a tag begins like one of the matchmaker's own. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_MATCH)

/** Returns a query for the deployments with this tag, newest first. The service may ignore the filter, see `hasTag`. */
export const taggedWith = (tag: string): DeploymentQuery => ({
  filters: [{ field: 'tags', operator: 'in', value: [tag] }],
  order_by: [{ field: 'created_at', order: 'desc' }],
})

/** True if a listed deployment has the tag. */
export const hasTag = (entry: DeploymentListEntry, tag: string): boolean => entry.tags?.includes(tag) ?? false

/** Maximum bytes of UTF-8 in the value of an environment variable (public fact). */
export const LONGEST_VALUE_BYTES = 4096

/**
 * Maximum bytes of all names and values in a deployment's environment (our choice, because the service documents no
 * limit). Linux allows a program 2 MiB for its arguments and environment by default.
 */
export const LARGEST_ENVIRONMENT_BYTES = 256 * 1024
