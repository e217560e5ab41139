// pure: how many warm servers a location needs

/** Default maximum number of warm servers of a pool (our choice, to bound the cost of a mistake). */
export const MOST_WARM = 50

interface WarmBounds {
  readonly max: number
  readonly perHour?: number | undefined
}

/** Returns the maximum number of warm servers of a pool at all of its locations. */
export const mostWarm = ({ warm }: { readonly warm?: WarmBounds | undefined }): number =>
  Math.min(warm?.max ?? MOST_WARM, Math.floor(warm?.perHour ?? Infinity))

/**
 * Returns the share of matches that find no warm server, by Erlang's loss formula, for any distribution of boot times.
 * A warm server that a match takes is replaced at once, so a location is a system of `servers` lines whose calls are
 * boots.
 * @param servers target number of warm servers, a whole number from 0
 * @param load matches per second × seconds of a boot
 */
export function lossShare(servers: number, load: number): number {
  let loss = 1
  for (let line = 1; line <= servers; line += 1) loss = nextLoss(loss, line, load)
  return loss
}

/** Returns the loss with this number of lines, from the loss with one line fewer. */
const nextLoss = (loss: number, lines: number, load: number) => (load * loss) / (lines + load * loss)

/** Returns the mean number of idle warm servers: the target less those that boot. */
export const meanIdle = (servers: number, load: number): number => servers - load * (1 - lossShare(servers, load))

export interface StockGoal {
  /** Target share of matches that find a warm server, from 0 to below 1. */
  readonly hit: number
  /** Maximum number of idle servers, as a share of those in use. */
  readonly maxIdleShare: number
  /** Maximum number of warm servers. */
  readonly max: number
}

export interface PlaceLoad {
  /** Matches per second. */
  readonly rate: number
  /** Matches per second on a long average, to which idleness is compared. Default `rate`. */
  readonly steadyRate?: number | undefined
  /** Average seconds from the create of a server to its registration, and average seconds of a match. */
  readonly bootSeconds: number
  readonly matchSeconds: number
}

/**
 * Returns the smallest number of warm servers that reaches the goal. 0 if that would leave too many servers idle: the
 * location then keeps none of its own and shares those of another. A location that would
 * leave too many idle only in a short rush keeps the number for its long average.
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
