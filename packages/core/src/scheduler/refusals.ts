// pure: tells the refusals of a limit from stray ones

/** Milliseconds of each of the two spans whose answers count. */
const SPAN_MS = 5000
/** Refusals of a limit are more than so many, and so large a part of all answers. */
const USUAL = { least: 4, share: 0.06 }

/** Judges the 429s of an operation without a documented limit. */
export interface Refusals {
  /** Notes an answer other than 429. */
  accepted(now: number): void
  /**
   * Notes a 429, and tells whether it and the others of the last 5 to 10 s are those of a limit.
   * @param isProbing whether the present rate is one that was never proven
   */
  refused(now: number, isProbing: boolean): boolean
  /** Counts anew: the rate has changed. */
  restart(): void
}

/**
 * A service refuses some requests for reasons that the rate does not explain. Where 3 % are refused at random, the
 * numbers here take that for a limit less than once in an hour of 10 requests a second. A limit that is exceeded by a
 * tenth is recognised within some 200 requests, one that is exceeded tenfold by the fifth refusal. After a limit, the
 * next 429 is one again until something was accepted. A higher rate that is being tried is given up at the second
 * refusal. The numbers are our choice.
 */
export function createRefusals(): Refusals {
  let begun = Number.NEGATIVE_INFINITY
  let before = { accepted: 0, refused: 0 }
  let current = { accepted: 0, refused: 0 }
  /** Whether nothing was accepted since a refusal that was one of a limit. */
  let isLimited = false

  const restart = () => {
    before = { accepted: 0, refused: 0 }
    current = { accepted: 0, refused: 0 }
  }
  const turn = (now: number) => {
    if (now - begun < SPAN_MS) return
    before = now - begun < 2 * SPAN_MS ? current : { accepted: 0, refused: 0 }
    current = { accepted: 0, refused: 0 }
    begun = now
  }
  const isLimit = (isProbing: boolean): boolean => {
    if (isLimited) return true
    const refused = before.refused + current.refused
    const all = refused + before.accepted + current.accepted
    return isProbing ? refused >= 2 && refused >= all / 20 : refused >= USUAL.least + USUAL.share * all
  }

  return {
    accepted: (now) => {
      turn(now)
      current.accepted += 1
      isLimited = false
    },
    refused: (now, isProbing) => {
      turn(now)
      current.refused += 1
      if (!isLimit(isProbing)) return false
      isLimited = true
      restart()
      return true
    },
    restart,
  }
}
