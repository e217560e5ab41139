// pure: kinds of values of parameters
import { z } from 'zod'

/** A part of a whole. */
export const share = z.number().min(0).max(1)
/** A number that counts beside others of its kind. */
export const weight = z.number().min(0).max(1e9)
export const name = z.string().min(1).max(128)
export const durationMs = (most: number) => z.number().min(1).max(most)
export const hasWeight = (weights: Readonly<Record<string, number>> | readonly number[]) =>
  Object.values(weights).some((one) => one > 0)
export const NO_WEIGHT = 'must not be 0 everywhere'
/** Weights by name. */
export const weights = z.record(name, weight).refine(hasWeight, NO_WEIGHT)
