// pure: why tickets return to the search and servers are stopped, and the activities in which problems occur

/**
 * Why a ticket is searching again although a match was found. A reason counts as an attempt of the ticket only if the
 * deployment itself failed.
 */
export type ReturnReason =
  /** Another ticket of the match was cancelled. */
  | 'dissolved'
  /** Other players did not accept the match. */
  | 'not-accepted'
  /** The match was stopped by `stopMatch` before it had a server. */
  | 'stopped'
  /** No server could be allocated. Counts as an attempt. */
  | 'no-capacity'
  /** The service refused the deployment, e.g. because there is no such version. Counts as an attempt. */
  | 'refused'
  /** The service could not be reached, or took no requests: nothing was created. */
  | 'unavailable'
  /** The answer to the create was lost, and no such deployment was found. */
  | 'lost'
  /** The deployment ended in error, or before it was READY. Counts as an attempt. */
  | 'failed'
  /** The deployment was not READY in time. Counts as an attempt. */
  | 'too-slow'
  /** The server was READY, but its probe failed. Counts as an attempt. */
  | 'not-listening'

/** How a server failed: in error or ended too early, READY too late, READY without listening, or in error in play. */
export type ServerFailure = Extract<ReturnReason, 'failed' | 'too-slow' | 'not-listening'> | 'crashed'

/**
 * Why a server was stopped: the reason for which its tickets returned to the search, or
 * - `ended`: the deployment ended by itself;
 * - `crashed`: the deployment ended in error while players were on it;
 * - `stopped`: by `stopMatch`;
 * - `left`: all players have left, by `playersLeft`;
 * - `max-duration`: after the `maxDurationMs` of its queue;
 * - `nobody-joined`: none of its players had come after the `joinWithinMs` of its queue;
 * - `closed`: by `close`;
 * - `restarted`: the server was found in the journal and no players are on it;
 * - `twin`: the match had another server.
 */
export type StopReason =
  | ReturnReason
  | 'ended'
  | 'crashed'
  | 'left'
  | 'max-duration'
  | 'nobody-joined'
  | 'closed'
  | 'restarted'
  | 'twin'

export const ACTIVITIES = [
  'create',
  'find',
  'stop',
  'list',
  'status',
  'probe',
  'journal',
  'ticket-log',
  'locate',
  'beacons',
  'rule',
  'tick',
  /** A listener of an event failed. */
  'listener',
] as const

/** The activity during which a problem occurred. The matchmaker continues by itself. */
export type Activity = (typeof ACTIVITIES)[number]
