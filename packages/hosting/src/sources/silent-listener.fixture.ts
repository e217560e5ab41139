import type { SourceListener } from './source.js'

const nothing = () => {}

/** A listener of a source that owns every server and ignores all reports. */
export const silentListener: SourceListener = {
  changed: nothing,
  seen: () => true,
  late: nothing,
  absent: nothing,
  isReporting: () => false,
  reaped: nothing,
  answered: nothing,
  unanswered: nothing,
  stopped: nothing,
  unstopped: nothing,
  problem: nothing,
}
