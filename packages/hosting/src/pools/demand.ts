const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
/** Minimum weight of a new value in the averages of boots and matches. They follow about the last 100 values. */
const LEAST_WEIGHT = 0.01
/** Assumed seconds of a boot and of a match, until the first one is measured (our choice). */
const FIRST_BOOT_SECONDS = 20
const FIRST_MATCH_SECONDS = 900
/** Time constants of the averages of arrivals, in milliseconds. */
const SMOOTHING_MS = [120_000, 360_000, 1_080_000, 1_800_000] as const
/** Minimum number of matches within an average's time constant. Averages of fewer matches are mostly noise. */
const ENOUGH = 30
/** Number of minutes in which today's demand is compared with yesterday's. `LEVEL` limits the quotient. */
const LEVEL_MINUTES = 30
const LEVEL = { least: 0.25, most: 4 }

/** Measures the demand for servers of a pool at one location, and predicts it. Times are epoch milliseconds. */
export function createDemand(startedAt: number) {
  /** Number of matches by minute, for the last two days. The index is the minute modulo two days. */
  const minutes = new Uint32Array(2 * DAY_MINUTES)
  const firstMinute = Math.floor(startedAt / MINUTE_MS)
  let minute = firstMinute
  const averages = SMOOTHING_MS.map(() => 0)
  let averagedAt = startedAt
  let boot = FIRST_BOOT_SECONDS
  let match = FIRST_MATCH_SECONDS
  let longest = 0
  let boots = 0
  let matches = 0

  const at = (wanted: number) => (wanted < firstMinute || wanted > minute ? 0 : (minutes[wanted % minutes.length] ?? 0))
  const advanceTo = (now: number) => {
    const wanted = Math.floor(now / MINUTE_MS)
    for (let next = Math.max(minute + 1, wanted - minutes.length); next <= wanted; next += 1)
      minutes[next % minutes.length] = 0
    if (wanted > minute) longest *= 0.999 ** (wanted - minute)
    minute = Math.max(minute, wanted)
  }
  const decay = (now: number) => {
    const passed = Math.max(0, now - averagedAt)
    averagedAt = Math.max(averagedAt, now)
    for (const [nth, ms] of SMOOTHING_MS.entries()) averages[nth] = (averages[nth] ?? 0) * Math.exp(-passed / ms)
  }

  /**
   * Returns the averages in matches per second. The time before the start is left out, but at least two minutes count,
   * so a few matches at the start are no rush.
   */
  const rates = (now: number): readonly number[] => {
    const seen = Math.max(SMOOTHING_MS[0], now - startedAt)
    return SMOOTHING_MS.map((ms, nth) => (averages[nth] ?? 0) / (1 - Math.exp(-seen / ms)))
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
    // Read two adjacent minutes, because yesterday's peak may come slightly earlier today.
    return (Math.max(at(present - DAY_MINUTES), at(present - DAY_MINUTES + 1)) / 60) * level
  }

  return {
    /** Called when a match needs a server. */
    arrived: (now: number) => {
      advanceTo(now)
      decay(now)
      for (const [nth, ms] of SMOOTHING_MS.entries()) averages[nth] = (averages[nth] ?? 0) + 1000 / ms
      const index = Math.floor(now / MINUTE_MS) % minutes.length
      minutes[index] = (minutes[index] ?? 0) + 1
    },
    /** Called when a match no longer needs a server. @param cameAt the time of its `arrived` */
    withdrawn: (cameAt: number, now: number) => {
      advanceTo(now)
      decay(now)
      for (const [nth, ms] of SMOOTHING_MS.entries()) {
        const left = (1000 / ms) * Math.exp(-Math.max(0, now - cameAt) / ms)
        averages[nth] = Math.max(0, (averages[nth] ?? 0) - left)
      }
      const wanted = Math.floor(cameAt / MINUTE_MS)
      // Matches of more than two days ago are no longer counted by minute.
      if (wanted > minute - minutes.length) minutes[wanted % minutes.length] = Math.max(0, at(wanted) - 1)
    },
    /** Called when a server has registered for the first time. @param ms milliseconds since its create */
    booted: (ms: number) => {
      boots += 1
      boot += Math.max(LEAST_WEIGHT, 1 / boots) * (ms / 1000 - boot)
    },
    /** Called when a match has left its server. @param ms milliseconds for which its players could connect */
    played: (ms: number) => {
      matches += 1
      match += Math.max(LEAST_WEIGHT, 1 / matches) * (ms / 1000 - match)
      longest = Math.max(longest, ms / 1000)
    },
    /**
     * Returns the predicted matches per second: the maximum of three values. The first is the shortest average with
     * enough matches. The second adds its trend until a server has booted. The third is the same minute yesterday,
     * scaled to today's level.
     */
    rate: (now: number) => {
      advanceTo(now)
      decay(now)
      const all = rates(now)
      const enough = all.findIndex((rate, nth) => (rate * (SMOOTHING_MS[nth] ?? 0)) / 1000 >= ENOUGH)
      const average = all.at(enough) ?? 0
      // An average lags behind by its time constant, so the slope is the difference of two averages divided by that of
      // their time constants.
      const [fast = 0, slower = 0] = all
      const slope = enough === 0 ? (fast - slower) / ((SMOOTHING_MS[1] - SMOOTHING_MS[0]) / 1000) : 0
      return Math.max(average, average + slope * boot, yesterday(now), 0)
    },
    /** Returns the matches per second, averaged over half an hour. */
    steadyRate: (now: number) => {
      advanceTo(now)
      decay(now)
      return rates(now).at(-1) ?? 0
    },
    /** Returns the number of matches that needed a server within the last hour. */
    lastHour: (now: number) => {
      advanceTo(now)
      let sum = 0
      for (let back = 0; back < 60; back += 1) sum += at(Math.floor(now / MINUTE_MS) - back)
      return sum
    },
    bootSeconds: () => boot,
    matchSeconds: () => match,
    /** Returns the seconds of the longest recent match. The value decays by 0.1 % a minute. */
    longestMatchSeconds: () => Math.max(longest, match),
  }
}
