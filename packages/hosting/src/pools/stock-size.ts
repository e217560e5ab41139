// pure: how many warm servers a place needs

/** Warm servers of a pool at most, if nothing says how many (our choice, to bound the cost of a mistake). */
export const MOST_WARM = 50

interface WarmBounds {
  readonly max: number
  readonly perHour?: number | undefined
}

/** Warm servers of a pool at most, at all of its places. */
export const mostWarm = ({ warm }: { readonly warm?: WarmBounds | undefined }): number =>
  Math.min(warm?.max ?? MOST_WARM, Math.floor(warm?.perHour ?? Infinity))

/**
 * The share of matches that find no warm server, by Erlang's loss formula, whatever the distribution of boot times.
 * A warm server that a match takes is ordered anew at once, so a place with `servers` is a system of so many lines
 * whose calls are boots.
 * @param servers warm servers that are kept, a whole number from 0
 * @param load matches per second × seconds of a boot
 */
export function lossShare(servers: number, load: number): number {
  let loss = 1
  for (let line = 1; line <= servers; line += 1) loss = nextLoss(loss, line, load)
  return loss
}

/** The loss of so many lines by that of one fewer. */
const nextLoss = (loss: number, lines: number, load: number) => (load * loss) / (lines + load * loss)

/** Warm servers that are idle on average: those kept, less those that boot. */
export const meanIdle = (servers: number, load: number): number => servers - load * (1 - lossShare(servers, load))

export interface StockGoal {
  /** Share of matches that are to find a warm server, from 0 to below 1. */
  readonly hit: number
  /** Idle servers at most, as a share of those that play. */
  readonly maxIdleShare: number
  /** Warm servers at most. */
  readonly max: number
}

export interface PlaceLoad {
  /** Matches per second. */
  readonly rate: number
  /** Matches per second on a long average, with which idleness is compared. Default `rate`. */
  readonly steadyRate?: number | undefined
  /** Seconds from create to registered, and of a match, on average. */
  readonly bootSeconds: number
  readonly matchSeconds: number
}

/**
 * The smallest number of warm servers that reaches the goal. 0 where that would leave more servers idle than their
 * share allows: then this place keeps none of its own, and shares those of another place. A rush that would pass the
 * share for a moment does not empty a place that keeps to it on average.
 */
export function stockFor(place: PlaceLoad, goal: StockGoal): number {
  const { rate, steadyRate = rate } = place
  const atOnce = withinShare(place, rate, goal)
  return atOnce > 0 || steadyRate === rate ? atOnce : withinShare(place, steadyRate, goal)
}

function withinShare({ bootSeconds, matchSeconds }: PlaceLoad, rate: number, goal: StockGoal): number {
  const { hit, maxIdleShare, max } = goal
  const load = rate * bootSeconds
  if (load <= 0 || hit <= 0) return 0
  let servers = 0
  let loss = 1
  while (1 - loss < hit && servers < max) {
    servers += 1
    loss = nextLoss(loss, servers, load)
  }
  return meanIdle(servers, load) <= maxIdleShare * rate * matchSeconds ? servers : 0
}
