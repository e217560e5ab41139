/**
 * What the console's page and its server tell one another, as JSON under `/console/api`. In brackets: the permission
 * that a request takes besides `see`.
 *
 * | request | answer |
 * |---|---|
 * | `GET feed` | server-sent events: `hello` (Hello), `now` (Now, twice a second), `step` (HistoryStep), `bye` |
 * | `GET find?id=` | Found |
 * | `GET servers` | ServerList |
 * | `GET acts` | Audit |
 * | `GET queues` | QueueCards |
 * | `PUT queues/{name}` (rules) | Applied |
 * | `POST queues/{name}/pause`, `…/resume` (rules) | 204 |
 * | `POST trials`, `GET trials/{id}`, `DELETE trials/{id}` | Trial; 204 |
 * | `POST tickets/{id}/cancel`, `matches/{id}/stop`, `players/{id}/forgive` (players) | 204 |
 * | `POST bots` `{ players }` (players, only in `muster dev`) | 202 |
 *
 * A reader of the feed that missed steps gets another `hello`. Every request has the header `Authorization: Bearer …`,
 * the feed too (the page reads it by `fetch`). An error is a Problem: 401 for a token that is missing or wrong, 403 for
 * a role that may not, 404, 409 for an edit of an older version of a queue, 422 for a queue that is wrong (with its
 * faults by line and column), 429.
 */
export type {
  Applied,
  ApplyRequest,
  Audit,
  Curve,
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
} from './answers.js'
export {
  type FormingPhase,
  type Hello,
  type History,
  type HistoryStep,
  isAllowed,
  type LimitNow,
  type MapNow,
  type Now,
  type Permission,
  type QueueNow,
  type RelaxedStep,
  type Role,
  type ServersNow,
  type Spot,
} from './feed-messages.js'
