// pure: what latency a match has

type Latencies = Readonly<Record<string, number>> | undefined

/**
 * Each player's latency to the beacon that is best for the match: of those that all players have measured, the one with
 * the least worst latency, then with the least average, as the matchmaker ranks them. NaN for players without
 * latencies, who do not count, and for everybody if there is no such beacon.
 */
export function latenciesOf(players: readonly Latencies[]): number[] {
  const known = players.filter((latencies) => latencies !== undefined && Object.keys(latencies).length > 0)
  const best = bestBeacon(known as readonly Readonly<Record<string, number>>[])
  return players.map((latencies) => (best === undefined ? Number.NaN : (latencies?.[best] ?? Number.NaN)))
}

function bestBeacon(players: readonly Readonly<Record<string, number>>[]): string | undefined {
  let best: { readonly name: string; readonly worst: number; readonly sum: number } | undefined
  for (const name of Object.keys(players[0] ?? {})) {
    let [worst, sum] = [0, 0]
    for (const latencies of players) {
      const ms = Object.hasOwn(latencies, name) ? (latencies[name] as number) : Infinity
      worst = Math.max(worst, ms)
      sum += ms
    }
    const isBetter = best === undefined || worst < best.worst || (worst === best.worst && sum < best.sum)
    const isAlike = best !== undefined && worst === best.worst && sum === best.sum
    if (worst < Infinity && (isBetter || (isAlike && name < (best?.name ?? '')))) best = { name, worst, sum }
  }
  return best?.name
}
