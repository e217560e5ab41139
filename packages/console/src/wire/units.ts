// pure: units of the wire

/** Epoch milliseconds. */
export type Moment = number

/** A length of time. */
export type Milliseconds = number
