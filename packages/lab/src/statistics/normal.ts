// pure: normally distributed numbers
import type { Random } from '@muster/core/clock'

/** Normally distributed with mean 0 and deviation 1, from two random numbers (Box and Muller). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
