// pure: work in steps of bounded size

/** Most tickets of one step: a script holds up everybody else while it runs. */
export const MOST_TICKETS = 256

/** Cuts items into steps of at most 256 by weight, in order; a single one may weigh more. */
export function cut<T>(items: readonly T[], weigh: (item: T) => number): readonly (readonly T[])[] {
  const steps: T[][] = []
  let room = 0
  for (const item of items) {
    const weight = weigh(item)
    if (room < weight || steps.length === 0) {
      steps.push([])
      room = MOST_TICKETS
    }
    room -= weight
    ;(steps.at(-1) as T[]).push(item)
  }
  return steps
}

/** What a ticket weighs more for being a large party. */
export const partyWeight = (players = 0): number => Math.floor(players / 8)
