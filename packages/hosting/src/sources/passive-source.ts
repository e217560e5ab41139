import type { ServerSource } from './source.js'

/** The empty methods of a source that keeps no state about its servers between two calls. */
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
