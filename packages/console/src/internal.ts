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
export type {
  FormingMatch,
  FormingPhase,
  Hello,
  History,
  HistoryStep,
  LimitNow,
  Money,
  Now,
  ProblemNow,
  QueueHistory,
  QueueNow,
  RelaxedStep,
  ServerCluster,
  ServersNow,
  WaitingCluster,
} from './wire/feed-messages.js'
export { isAllowed, type Permission, permissionsOf, type Role } from './wire/permissions.js'
