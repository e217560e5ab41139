import type { ServerSource } from './source.js'

/** The methods of a source that it can leave empty. */
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
