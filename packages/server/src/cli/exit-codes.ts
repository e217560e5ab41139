/** How a command ends. */
export const EXIT = {
  ok: 0,
  /** Something failed that was asked for rightly. */
  failed: 1,
  /** A wrong command, option or configuration: nothing was done. */
  wrong: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
