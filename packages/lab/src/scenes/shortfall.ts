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
export const listOf = (sentences: readonly string[]): Shortfall | undefined => listOfAll(sentences, (one) => one)

/** A shortfall of what is said about each of these; undefined if there are none. */
export function listOfAll<Subject>(subjects: readonly Subject[], say: (one: Subject) => string): Shortfall | undefined {
  if (subjects.length === 0) return undefined
  const more = subjects.length - MOST_SENTENCES
  const words = subjects.slice(0, MOST_SENTENCES).map(say).join('; ')
  return { words: words + (more > 0 ? `; and ${more} more like this` : '') }
}
