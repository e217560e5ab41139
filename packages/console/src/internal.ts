/** What the other packages of this repository use of @muster/console. No promise: it changes without notice. */
export { baseStyle } from './parts/base-style.js'
export { counted, duration, grouped, sum } from './parts/number-words.js'
export { type Dot, type Label, onMap, placeLabels } from './parts/world-map.js'
export { graticule, mapExtent, worldOutline } from './parts/world-outline.js'
export type {
  Applied,
  ApplyRequest,
  Audit,
  Found,
  Problem,
  QueueCard,
  QueueCards,
  ServerList,
  ServerRow,
  Story,
  StoryAction,
  StoryEvent,
  StoryExplanation,
  StoryKind,
  Trial,
  TrialRequest,
  TrialResult,
  TrialSide,
  YamlFault,
} from './wire/answers.js'
export {
  type FormingMatch,
  type FormingPhase,
  type Hello,
  type History,
  type HistoryStep,
  isAllowed,
  type LimitNow,
  type Money,
  type Now,
  type Permission,
  permissionsOf,
  type ProblemNow,
  type QueueHistory,
  type QueueNow,
  type RelaxedStep,
  type Role,
  type ServerCluster,
  type ServersNow,
  type WaitingCluster,
} from './wire/feed-messages.js'
