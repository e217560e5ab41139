// pure: why tickets return and servers stop, and during what something went wrong

/**
 * Why a ticket is searching again although a match was found. Only what was the deployment's own fault counts as an
 * attempt.
 */
export type ReturnReason =
  /** Another ticket of the match was cancelled. */
  | 'dissolved'
  /** Others of the match did not accept it. */
  | 'not-accepted'
  /** The match was stopped by `stopMatch` before it had a server. */
  | 'stopped'
  /** No server could be allocated. An attempt. */
  | 'no-capacity'
  /** The service refused the deployment, e.g. because there is no such version. An attempt. */
  | 'refused'
  /** The service could not be asked, or did not want to be: nothing was created. */
  | 'unavailable'
  /** The answer to the create was lost, and there is no such deployment. */
  | 'lost'
  /** The deployment ended in error, or ended before it was ready. An attempt. */
  | 'failed'
  /** The deployment was not ready in time. An attempt. */
  | 'too-slow'
  /** The server was READY, but its probe failed. An attempt. */
  | 'not-listening'

/**
 * Why a server was stopped: what made the tickets return; or `ended`, it ended by itself; `stopped`, by
 * `stopMatch`; `left`, nobody is there any more, as `playersLeft` told; `max-duration`, after the `maxDurationMs` of
 * its queue; `closed`, by `close`; `restarted`, it was found in the journal and nobody plays on it; `twin`, its match
 * had another one.
 */
export type StopReason = ReturnReason | 'ended' | 'left' | 'max-duration' | 'closed' | 'restarted' | 'twin'

/** What the matchmaker was doing when something went wrong. It goes on by itself. */
export type Activity =
  | 'create'
  | 'find'
  | 'stop'
  | 'list'
  | 'status'
  | 'probe'
  | 'journal'
  | 'locate'
  | 'beacons'
  | 'rule'
  | 'tick'
  /** A listener of an event failed. */
  | 'listener'
