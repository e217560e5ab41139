/** Exports for the other packages of this repository only. They may change without notice. */
export { baseStyle } from './parts/base-style.js'
export { counted, duration, grouped, sum } from './parts/number-words.js'
export { type Dot, type Label, onMap, placeLabels } from './parts/world-map.js'
export { graticule, mapExtent, worldOutline } from './parts/world-outline.js'
export type { KeyRow, PoolRow, ServerList, ServerOutput, ServerRow, SourceRow } from './wire-servers.js'
export {
  type Applied,
  type ApplyRequest,
  type Audit,
  type FormingMatch,
  type FormingPhase,
  type FoundStories,
  type Hello,
  type History,
  type HistoryStep,
  isAllowed,
  type LimitNow,
  type Money,
  type Now,
  type Permission,
  permissionsOf,
  type ErrorBody,
  type ProblemNow,
  type QueueCard,
  type QueueCards,
  type QueueHistory,
  type QueueNow,
  type RelaxedStep,
  type Role,
  type ServerCluster,
  type ServersNow,
  type Story,
  type StoryAction,
  type StoryEvent,
  type StoryExplanation,
  type StoryKind,
  type Trial,
  type TrialRequest,
  type TrialResult,
  type TrialSide,
  type WaitingCluster,
  type YamlFault,
} from './wire.js'
