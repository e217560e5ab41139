// pure: why an expectation is not met
/** Why an expectation is not met. */
export interface Shortfall {
  /** What is so instead. */
  readonly words: string
  /** Tickets that are not in one match, though they should be: worth an explanation. */
  readonly apart?: readonly string[] | undefined
  /** A ticket that waits, though it should not. */
  readonly waits?: string | undefined
}

/** Most sentences about one expectation. */
const MOST_SENTENCES = 5

/** A shortfall of these sentences; undefined if there is none. */
export function listOf(sentences: readonly string[]): Shortfall | undefined {
  if (sentences.length === 0) return undefined
  const more = sentences.length - MOST_SENTENCES
  return { words: sentences.slice(0, MOST_SENTENCES).join('; ') + (more > 0 ? `; and ${more} more like this` : '') }
}
