import { costOf, mayMeet, SKILL_UNIT, type Standing } from './standing.js'

/** Number of nearest others kept for each player: `KEPT` per other player of a match, but at least `FEWEST`. */
const KEPT = 4
const FEWEST = 40
/** Number of times that prices change, and the size of the first change as a share of the average cost. */
const ROUNDS = 60
const STEP = 0.25

/**
 * The nearest other players of a player, with their costs in ascending order. All other players cost at least
 * `further`.
 */
interface Near {
  readonly others: Int32Array
  readonly costs: Float64Array
  readonly further: number
}

/**
 * Returns a lower bound of `averageCost` over all ways to match these players in matches of `size`, within the rules.
 *
 * In any such way, each player has `size` − 1 others, and is one of the others of `size` − 1 players. Give each player
 * a price, which everyone who has that player pays. The prices paid are then `size` − 1 times the sum of all prices,
 * whatever the matches. Now let everyone choose the others with the least cost plus price, even if no matches result.
 * The total is at most that of any matches, so the total minus the prices is a lower bound.
 *
 * A player who is chosen too often gets a higher price, for a fixed number of rounds. The best bound counts.
 */
export function leastCost(players: readonly Standing[], size: number): number {
  const seats = size - 1
  const near = nearest(players, Math.max(FEWEST, KEPT * seats))
  const prices = new Float64Array(players.length)
  const chosen = new Float64Array(players.length)
  let [best, unit] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    chosen.fill(0)
    let sum = 0
    for (const one of near) sum += choose(one, seats, prices, chosen)
    const bound = (sum - seats * prices.reduce((all, price) => all + price, 0)) / seats / players.length
    best = Math.max(best, bound)
    if (round === 0) unit = bound
    for (const [at, many] of chosen.entries())
      prices[at] = Math.max(0, (prices[at] as number) + ((STEP * unit) / (1 + round / 6)) * (many / seats - 1))
  }
  return best
}

/**
 * Chooses the others with the least cost plus price for one player, and counts them in `chosen`. Returns the sum of
 * their costs and prices.
 */
function choose({ others, costs, further }: Near, seats: number, prices: Float64Array, chosen: Float64Array): number {
  const paid = new Float64Array(seats).fill(further)
  const taken = new Int32Array(seats).fill(-1)
  for (const [at, cost] of costs.entries()) {
    // Costs ascend and prices are at least 0, so no later player is cheaper.
    if (cost >= (paid[seats - 1] as number)) break
    const other = others[at] as number
    const price = cost + (prices[other] as number)
    let seat = seats - 1
    if (price >= (paid[seat] as number)) continue
    for (; seat > 0 && (paid[seat - 1] as number) > price; seat--) {
      paid[seat] = paid[seat - 1] as number
      taken[seat] = taken[seat - 1] as number
    }
    paid[seat] = price
    taken[seat] = other
  }
  for (const other of taken) if (other !== -1) chosen[other] = (chosen[other] as number) + 1
  return paid.reduce((sum, price) => sum + price, 0)
}

/** Returns the nearest others that each player may meet. They are searched outwards from the player's skill. */
function nearest(players: readonly Standing[], most: number): Near[] {
  const inOrder = Array.from(players.keys()).toSorted(
    (one, other) => (players[one] as Standing).sample.skill - (players[other] as Standing).sample.skill,
  )
  const near = new Array<Near>(players.length)
  for (const [place, index] of inOrder.entries()) {
    const own = players[index] as Standing
    const costs: number[] = []
    const others: number[] = []
    for (const by of [-1, 1])
      for (let at = place + by; at >= 0 && at < inOrder.length; at += by) {
        const other = players[inOrder[at] as number] as Standing
        const worst = costs.length < most ? Infinity : (costs[most - 1] as number)
        if (Math.abs(own.sample.skill - other.sample.skill) >= worst * SKILL_UNIT) break
        const cost = costOf(own, other)
        if (cost >= worst || !mayMeet(own, other)) continue
        let to = costs.length
        while (to > 0 && (costs[to - 1] as number) > cost) to -= 1
        costs.splice(to, 0, cost)
        others.splice(to, 0, inOrder[at] as number)
        if (costs.length > most) [costs.length, others.length] = [most, most]
      }
    near[index] = {
      others: Int32Array.from(others),
      costs: Float64Array.from(costs),
      further: costs.length < most ? Infinity : (costs[most - 1] as number),
    }
  }
  return near
}
