// pure: who is new
import { predictedWin } from '@muster/matchmaker'

/**
 * The probability that a player is new, by true skill in standard deviations from the average. It falls with skill such
 * that new players are distributed by the skew normal distribution (A. Azzalini, 1985), whose mean is so far below, and
 * that the whole crowd stays normally distributed.
 */
export function newcomerChance({
  newcomers,
  newcomersBelow,
}: {
  readonly newcomers: number
  readonly newcomersBelow: number
}): (deviations: number) => number {
  if (newcomersBelow === 0) return () => newcomers
  const delta = newcomersBelow * Math.sqrt(Math.PI / 2)
  const shape = delta / Math.sqrt(1 - delta ** 2)
  return (deviations) => newcomers * 2 * chanceBelow(-shape * deviations)
}

/** Φ: one who is ahead by so much wins, if both vary by √½. */
const chanceBelow = (lead: number) => predictedWin([{ mean: lead, uncertainty: 0 }], [], Math.SQRT1_2)
