// pure: the tags by which deployments are found again, and limits of environments
import type { DeploymentListEntry } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'

/** Maximum length of a tag in characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
/** The prefix says `match`, because it is in deployments of earlier versions, which had a server for each match. */
const OF_SERVER = 'match-'

/** Returns the tag that all deployments of a matchmaker have. The matchmaker's name has at most 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** Returns the tag of a server's deployment. @param nth number of the attempt, from 1 */
export const serverTag = (serverId: string, nth = 1): string =>
  nth === 1 ? `${OF_SERVER}${serverId}` : `${OF_SERVER}${serverId}-${nth}`

/**
 * Returns the credential in a deployment's tag: the server's id, followed by the number of a further attempt. The
 * server's token is derived from it.
 */
export const credentialOf = (tag: string): string => tag.slice(OF_SERVER.length)
/** Returns the tag of the deployment with this credential. */
export const tagOfCredential = (credential: string): string => `${OF_SERVER}${credential}`

/** Returns the credentials in the tags of a deployment. */
export const serverIdsOf = (tags: readonly string[] | null | undefined): readonly string[] =>
  (tags ?? []).filter((tag) => tag.startsWith(OF_SERVER)).map(credentialOf)

/**
 * Returns the server ids that a tag may contain: `match-a-2` may be the first attempt of `a-2` or the second of `a`.
 */
export function possibleServerIdsOf(tag: string): readonly string[] {
  if (!tag.startsWith(OF_SERVER)) return []
  const serverId = tag.slice(OF_SERVER.length)
  const further = /^(.+)-\d+$/.exec(serverId)?.[1]
  return further === undefined ? [serverId] : [serverId, further]
}

/** True if a tag begins like one of the matchmaker's own. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_SERVER)

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
