// pure: how long things last in a lobby
/** Milliseconds, all settable. */
export interface LobbyRules {
  /** After this long without a sign of life a member is away. Default 30,000. */
  readonly awayAfterMs: number
  /** How long the slot of a member who is away, or has left, can be taken again by that player. Default 120,000. */
  readonly holdSlotMs: number
  /** A lobby in which nobody is present ends after this. Default 60,000. */
  readonly emptyMs: number
  /** A lobby that is not running, and in which nobody does anything, ends after this. Default 600,000. */
  readonly idleMs: number
  /** Any lobby ends after this. Default 14,400,000 (4 hours). */
  readonly maxLifetimeMs: number
  /** How long an applicant waits for the host, and a denied one stays denied. Default 60,000. */
  readonly applicantMs: number
  /** How long a process that sees to a run may be silent before another does. Default 30,000. */
  readonly leaseMs: number
  /** How long a closed lobby can still be read. Default 30,000. */
  readonly lingerMs: number
}

export const defaultRules: LobbyRules = {
  awayAfterMs: 30_000,
  holdSlotMs: 120_000,
  emptyMs: 60_000,
  idleMs: 600_000,
  maxLifetimeMs: 14_400_000,
  applicantMs: 60_000,
  leaseMs: 30_000,
  lingerMs: 30_000,
}
