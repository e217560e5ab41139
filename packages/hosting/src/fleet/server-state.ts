// pure: the phases of a server, the events that change them, and the work in each
import type { Server, ServerPhase } from '../records/index.js'

/*
 * creating ── created ──▶ starting ── ready ──▶ warming ── recorded ──▶ running
 *    │  │  ▲                ▲                      ▲
 *    │  │  │                │                      └─ enrolled: Muster has not started it
 *    │  │  └─ again ────────┼─ retrying: no capacity; what was created in spite of it is stopped first
 *    │  │                   │     ▲
 *    │  └─ no-capacity ─────┼─────┘
 *    └─ lost ──▶ finding ── created: it was found by its id
 *                   └── absent ──▶ gone
 *
 * starting, warming, running ── unwanted ──▶ stopping ── confirmed ──▶ gone
 *
 * A server that is no longer wanted stays in its phase while its create is in flight, while it is looked for, or while
 * it is stopped before another attempt. The next response of its source decides how it ends.
 */

/** An event of a server. */
export type ServerEvent =
  /** The server exists under a handle of its source: the create was answered, or the server was found. */
  | 'created'
  /** There is no capacity. Anything created in spite of that is stopped. */
  | 'no-capacity'
  /** What was created in spite of that is gone. Another location is tried. */
  | 'again'
  /** The response to the create was lost. */
  | 'lost'
  /** A process that Muster has not started has added itself. */
  | 'enrolled'
  | 'ready'
  /** The server listens, and the store has recorded it. Players may be sent there. */
  | 'recorded'
  | 'unwanted'

const STEPS: Readonly<Record<ServerPhase, Partial<Record<ServerEvent, ServerPhase>>>> = {
  creating: { created: 'starting', 'no-capacity': 'retrying', lost: 'finding', enrolled: 'warming' },
  finding: { created: 'starting' },
  retrying: { again: 'creating' },
  starting: { ready: 'warming', enrolled: 'warming', unwanted: 'stopping' },
  warming: { recorded: 'running', unwanted: 'stopping' },
  running: { unwanted: 'stopping' },
  stopping: {},
}

/** Returns the phase of a server after an event. Undefined if the event does not fit: nothing changes. */
export const stepServer = (phase: ServerPhase, event: ServerEvent): ServerPhase | undefined => STEPS[phase][event]

/** The part of a stored server that shows its progress. */
export interface StoredProgress {
  readonly sentAt?: number | undefined
  readonly requestId?: string | undefined
  readonly isUp?: boolean | undefined
}

/**
 * Returns the phase in which a later process takes over a server. A server whose create was sent but not answered is
 * looked for.
 */
export function phaseAfterRestart({ sentAt, requestId, isUp = false }: StoredProgress): ServerPhase {
  if (requestId !== undefined) return isUp ? 'running' : 'starting'
  return sentAt === undefined ? 'creating' : 'finding'
}

/**
 * The work for a server:
 * - `create`: send its create when its turn comes;
 * - `find`: let its source look for it by its id;
 * - `follow`: receive its changes from its source;
 * - `stop`: let its source stop it, repeatedly until that is confirmed;
 * - `end`: nothing was sent, so nothing is left of it.
 */
export type ServerWork = 'create' | 'find' | 'follow' | 'stop' | 'end'

/** Returns the work for a server. It is the same at once and after a restart. */
export function workOf({ phase, stopReason }: Pick<Server, 'phase' | 'stopReason'>): ServerWork {
  switch (phase) {
    case 'creating':
      return stopReason === undefined ? 'create' : 'end'
    case 'finding':
      return 'find'
    case 'retrying':
    case 'stopping':
      return 'stop'
    case 'starting':
    case 'warming':
    case 'running':
      return stopReason === undefined ? 'follow' : 'stop'
  }
}
