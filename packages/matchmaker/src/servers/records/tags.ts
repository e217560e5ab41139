// pure: the tags by which deployments are found again
import type { DeploymentListEntry, DeploymentQuery } from '@muster/core/api'

/** The service takes tags of up to 40 characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
const OF_MATCH = 'match-'

/** The tag of all deployments of one matchmaker. Its name may have 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** The tag of the one deployment of a match, at its first try or a further one. */
export const matchTag = (matchId: string, nth = 1): string =>
  nth === 1 ? `${OF_MATCH}${matchId}` : `${OF_MATCH}${matchId}-${nth}`

/** The ids of which a tag may be made: a match's own, or with the number of a further try. */
export function matchIdsOf(tag: string): readonly string[] {
  if (!tag.startsWith(OF_MATCH)) return []
  const matchId = tag.slice(OF_MATCH.length)
  const further = /^(.+)-\d+$/.exec(matchId)?.[1]
  return further === undefined ? [matchId] : [matchId, further]
}

/** Whether a tag could be taken for one of ours. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_MATCH)

/**
 * Deployments with this tag, the newest first. That the service filters and sorts as asked is a public
 * fact, and not relied upon.
 */
export const taggedWith = (tag: string): DeploymentQuery => ({
  filters: [{ field: 'tags', operator: 'in', value: [tag] }],
  order_by: [{ field: 'created_at', order: 'desc' }],
})

/** Whether it really has the tag. */
export const hasTag = (entry: DeploymentListEntry, tag: string): boolean => entry.tags?.includes(tag) ?? false
