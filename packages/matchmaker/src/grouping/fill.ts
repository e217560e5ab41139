// pure: fills a match from a list of candidates

/** Candidates considered before giving up; what is not found now may be found at the next tick, or from another ticket. */
const MOST_LOOKS = 1000

/**
 * Chooses candidates, the first ones preferred, that fill the room exactly and all go together; goes back
 * where a choice leads nowhere. Undefined if there are none, or they are too hard to find.
 */
export function fill(
  candidates: readonly number[],
  room: number,
  sizeOf: (candidate: number) => number,
  compatible: (one: number, other: number) => boolean,
): number[] | undefined {
  if (!addUp(candidates.map(sizeOf), room)) return undefined
  const chosen: number[] = []
  let looks = 0
  const choose = (from: number, left: number): boolean => {
    if (left === 0) return true
    for (let index = from; index < candidates.length && looks < MOST_LOOKS; index++) {
      looks += 1
      const candidate = candidates[index] as number
      const size = sizeOf(candidate)
      if (size > left || !chosen.every((other) => compatible(other, candidate))) continue
      chosen.push(candidate)
      if (choose(index + 1, left - size)) return true
      chosen.pop()
    }
    return false
  }
  return choose(0, room) ? chosen : undefined
}

/** Whether some of the sizes add up to the room: if not, there is no use in trying. */
function addUp(sizes: readonly number[], room: number): boolean {
  const reached = new Uint8Array(room + 1)
  reached[0] = 1
  for (const size of sizes) {
    for (let sum = room; sum >= size; sum--) if (reached[sum - size] === 1) reached[sum] = 1
    if (reached[room] === 1) return true
  }
  return false
}
