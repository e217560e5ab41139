import type { ServerSource } from './source.js'

/** Empty methods for sources that do not search for lost creates or orphans. */
export const PASSIVE = {
  found: () => {},
  claimed: () => {},
  giveUpSooner: () => {},
  ended: () => {},
  orphans: () => 0,
  follow: () => {},
  settle: () => {},
  hint: () => {},
  logs: undefined,
  capacity: undefined,
  watch: () => {},
  advance: () => {},
  close: () => {},
} satisfies Partial<ServerSource>
