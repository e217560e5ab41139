// pure: how many warm servers a location needs

/** Default maximum number of warm servers of a pool (our choice, to bound the cost of a mistake). */
export const MOST_WARM = 50

interface WarmBounds {
  readonly max: number
  readonly perHour?: number | undefined
}

/** Returns the maximum number of warm servers of a pool, over all locations. */
export const mostWarm = ({ warm }: { readonly warm?: WarmBounds | undefined }): number =>
  Math.min(warm?.max ?? MOST_WARM, Math.floor(warm?.perHour ?? Infinity))

/**
 * Returns the share of matches that find no warm server, by Erlang's B formula, for any distribution of boot times. A
 * taken server is replaced at once. So a location is like `servers` telephone lines, and each boot is a call that
 * occupies one.
 * @param servers target number of warm servers, a whole number from 0
 * @param load matches per second × seconds of a boot
 */
export function lossShare(servers: number, load: number): number {
  let loss = 1
  for (let line = 1; line <= servers; line += 1) loss = nextLoss(loss, line, load)
  return loss
}

/** Returns the loss with `lines` lines, given the loss with one line fewer. */
const nextLoss = (loss: number, lines: number, load: number) => (load * loss) / (lines + load * loss)

/** Returns the mean number of idle warm servers: the target number minus those that boot. */
export const meanIdle = (servers: number, load: number): number => servers - load * (1 - lossShare(servers, load))

export interface StockGoal {
  /** Target share of matches that find a warm server, from 0 to below 1. */
  readonly hit: number
  /** Maximum number of idle servers, as a share of the servers in use. */
  readonly maxIdleShare: number
  /** Maximum number of warm servers. */
  readonly max: number
}

export interface PlaceLoad {
  /** Predicted matches per second. */
  readonly rate: number
  /** Matches per second in a long average, which determines the allowed idle servers. Default `rate`. */
  readonly steadyRate?: number | undefined
  /** Average seconds from the create of a server to its registration, and average seconds of a match. */
  readonly bootSeconds: number
  readonly matchSeconds: number
}

/**
 * Returns the smallest number of warm servers that reaches the goal. 0 if too many of them would be idle: matches then
 * use servers of other locations. If that holds only for the current rate, the number for `steadyRate` is returned.
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
