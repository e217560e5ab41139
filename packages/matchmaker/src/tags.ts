// pure: the tags by which deployments are found again

/** The service takes tags of up to 40 characters (public fact). */
export const LONGEST_TAG = 40

const OF_MATCHMAKER = 'mm-'
const OF_MATCH = 'match-'

/** The tag of all deployments of one matchmaker. Its name may have 32 characters. */
export const matchmakerTag = (name: string): string => `${OF_MATCHMAKER}${name}`

/** The tag of the one deployment of a match. */
export const matchTag = (matchId: string): string => `${OF_MATCH}${matchId}`

/** Whether a tag could be taken for one of ours. */
export const isReserved = (tag: string): boolean => tag.startsWith(OF_MATCHMAKER) || tag.startsWith(OF_MATCH)
