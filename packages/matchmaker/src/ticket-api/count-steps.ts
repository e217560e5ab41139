// pure: numbers of others, as players see them
/** Players see how many wait rounded down to one of these steps, so that nobody sees a single player come or go. */
const STEPS = [0, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

export const stepOf = (count: number): number => STEPS.findLast((step) => step <= count) ?? 0
/** The least number above 0 that players see. */
export const FIRST_STEP = STEPS[1]
