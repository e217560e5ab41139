// pure: numbers of an explanation, as people read them

/** Six digits: what is beyond is the noise of arithmetic. */
export const readable = (value: number): number => Number(value.toPrecision(6))
