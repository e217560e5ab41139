// pure: numbers of an explanation, as people read them

/** Rounds to six digits, which hides the rounding errors of arithmetic. */
export const readable = (value: number): number => Number(value.toPrecision(6))
