/** What a pool has seen of matches at one place, and what it expects. Times are epoch milliseconds. */
export interface Demand {
  /** A match wanted a server. */
  arrived(now: number): void
  /** A server took so many milliseconds from its create until it registered. */
  booted(ms: number): void
  /** A match lasted so many milliseconds. */
  played(ms: number): void
  /**
   * Matches per second to be ready for: the greatest of the average of two minutes, its trend continued for the time of
   * a boot, and the same minute yesterday at today's level.
   */
  rate(now: number): number
  /** Seconds, on average. */
  bootSeconds(): number
  matchSeconds(): number
  /** Seconds of the longest match seen of late. */
  longestMatchSeconds(): number
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
/** Averages follow the last 20 boots and the last 50 matches or so. */
const BOOT_WEIGHT = 0.05
const MATCH_WEIGHT = 0.02
/** Before the first is seen (our choice). */
const FIRST_BOOT_SECONDS = 20
const FIRST_MATCH_SECONDS = 900
/** The time constant of the average of arrivals, in milliseconds. */
const SMOOTHING_MS = 120_000
/** Minutes of today and yesterday that are compared for today's level, and its bounds. */
const LEVEL_MINUTES = 30
const LEVEL = { least: 0.25, most: 4 }

export function createDemand(startedAt: number): Demand {
  /** Arrivals by minute, today's written over yesterday's. */
  const minutes = new Uint32Array(2 * DAY_MINUTES)
  const firstMinute = Math.floor(startedAt / MINUTE_MS)
  let minute = firstMinute
  let average = 0
  let slow = 0
  let averagedAt = startedAt
  let boot = FIRST_BOOT_SECONDS
  let match = FIRST_MATCH_SECONDS
  let longest = 0
  let booted = false
  let played = false

  const at = (wanted: number) => (wanted < firstMinute || wanted > minute ? 0 : (minutes[wanted % minutes.length] ?? 0))
  const advanceTo = (now: number) => {
    const wanted = Math.floor(now / MINUTE_MS)
    for (let next = Math.max(minute + 1, wanted - minutes.length); next <= wanted; next += 1)
      minutes[next % minutes.length] = 0
    if (wanted > minute) longest *= 0.999 ** (wanted - minute)
    minute = Math.max(minute, wanted)
  }
  /** Lets both averages fall to the present time. */
  const decay = (now: number) => {
    const passed = Math.max(0, now - averagedAt)
    averagedAt = Math.max(averagedAt, now)
    average *= Math.exp(-passed / SMOOTHING_MS)
    slow *= Math.exp(-passed / (3 * SMOOTHING_MS))
  }

  /** The present average, corrected for the time before the start. */
  const rates = (now: number) => {
    const seen = Math.max(1000, now - startedAt)
    return {
      fast: average / (1 - Math.exp(-seen / SMOOTHING_MS)),
      slower: slow / (1 - Math.exp(-seen / (3 * SMOOTHING_MS))),
    }
  }

  const yesterday = (now: number): number => {
    const present = Math.floor(now / MINUTE_MS)
    if (present - DAY_MINUTES < firstMinute) return 0
    let before = 0
    let today = 0
    for (let back = 1; back <= LEVEL_MINUTES; back += 1) {
      today += at(present - back)
      before += at(present - back - DAY_MINUTES)
    }
    const level = before === 0 ? 1 : Math.min(LEVEL.most, Math.max(LEVEL.least, today / before))
    // Two minutes, so that one is not missed by a second.
    return (Math.max(at(present - DAY_MINUTES), at(present - DAY_MINUTES + 1)) / 60) * level
  }

  return {
    arrived: (now) => {
      advanceTo(now)
      decay(now)
      average += 1000 / SMOOTHING_MS
      slow += 1000 / (3 * SMOOTHING_MS)
      const index = Math.floor(now / MINUTE_MS) % minutes.length
      minutes[index] = (minutes[index] ?? 0) + 1
    },
    booted: (ms) => {
      boot = booted ? boot + BOOT_WEIGHT * (ms / 1000 - boot) : ms / 1000
      booted = true
    },
    played: (ms) => {
      match = played ? match + MATCH_WEIGHT * (ms / 1000 - match) : ms / 1000
      played = true
      longest = Math.max(longest, ms / 1000)
    },
    rate: (now) => {
      advanceTo(now)
      decay(now)
      const { fast, slower } = rates(now)
      // The two averages lag by their time constants, so their difference is the slope over twice the shorter one.
      const slope = (fast - slower) / (2 * (SMOOTHING_MS / 1000))
      return Math.max(fast, fast + slope * boot, yesterday(now), 0)
    },
    bootSeconds: () => boot,
    matchSeconds: () => match,
    longestMatchSeconds: () => Math.max(longest, match),
  }
}
