// pure: the phases of a server, the events that change them, and the work in each
import type { Server, ServerPhase } from '../records/index.js'

/*
 * creating ── created ──▶ starting ── ready ──▶ warming ── recorded ──▶ running
 *    │  │  ▲                ▲                      ▲
 *    │  │  │                │                      └─ enrolled: Muster has not started the server
 *    │  │  └─ again ────────┼─ retrying: no capacity; a deployment created in spite of that is stopped first
 *    │  │                   │     ▲
 *    │  └─ no-capacity ─────┼─────┘
 *    └─ lost ──▶ finding ── created: the server was found by its id
 *                   └── absent ──▶ gone
 *
 * starting, warming, running ── unwanted ──▶ stopping ── confirmed ──▶ gone
 *
 * A server that must end keeps its phase while its create is in flight, while it is looked for, and while a deployment
 * is stopped before the next attempt. The next answer of its source then ends it.
 */

export type ServerEvent =
  /** The server exists: its create was answered, or it was found. */
  | 'created'
  /** There is no capacity. If a deployment was created anyway, it is stopped first. */
  | 'no-capacity'
  /** The deployment of an attempt without capacity is gone. The next attempt begins. */
  | 'again'
  /** The response to the create was lost. */
  | 'lost'
  /** A process that Muster has not started has enrolled as this server. */
  | 'enrolled'
  | 'ready'
  /** The store has recorded that the server listens. Players may be sent to it. */
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

/** Returns the phase of a server after an event. Undefined if the event does not fit the phase. */
export const stepServer = (phase: ServerPhase, event: ServerEvent): ServerPhase | undefined => STEPS[phase][event]

/** The stored facts that determine the phase of a server after a restart. */
export interface StoredProgress {
  readonly sentAt?: number | undefined
  readonly requestId?: string | undefined
  readonly isUp?: boolean | undefined
}

/** Returns the phase of a stored server after a restart. If its create was sent and not answered, it is looked for. */
export function phaseAfterRestart({ sentAt, requestId, isUp = false }: StoredProgress): ServerPhase {
  if (requestId !== undefined) return isUp ? 'running' : 'starting'
  return sentAt === undefined ? 'creating' : 'finding'
}

/**
 * What must be done for a server:
 * - `create`: send its create;
 * - `find`: let its source look for it by its id;
 * - `follow`: let its source report its changes;
 * - `stop`: let its source stop it, and repeat that until it is confirmed;
 * - `end`: remove it, because no create was sent.
 */
export type ServerWork = 'create' | 'find' | 'follow' | 'stop' | 'end'

/** Returns what must be done for a server in its phase, at once and after a restart. */
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
