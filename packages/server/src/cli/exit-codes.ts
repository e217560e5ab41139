/** How a command ends. */
export const EXIT = {
  ok: 0,
  /** Something failed that was asked for rightly. */
  failed: 1,
  /** A wrong command, option or configuration: nothing was done. */
  wrong: 2,
  /** Ended by Ctrl-C, as shells have it: 128 and the number of the signal. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
