import { dateOf } from '@muster/core/clock'
import type { Audit as AuditView, StoryEvent, StoryKind } from '@muster/console/internal'
import type { AuditedAction } from './options.js'
import { createEventHistory, type EventHistoryOptions } from './stories/index.js'

/** The latest actions of operators. The program's log has a line for each action too. */
export type AuditLog = ReturnType<typeof createAudit>

export type AuditOptions = Omit<EventHistoryOptions<RecordedAction>, 'taken'>

type RecordedAction = AuditedAction & { readonly at: number }

/** Maximum number of actions that are shown (our choice). */
const MOST_ACTS = 1000

/**
 * Bounds of the stored actions (our choice): 90 days and 1 MiB. Actions are few. They are needed long after the
 * recorded events of tickets, matches and servers were dropped.
 */
export const AUDIT_BOUNDS = { keepMs: 90 * 86_400_000, mostBytes: 1024 * 1024 }

export function createAudit({ store, clock, failed }: AuditOptions) {
  let acts: RecordedAction[] = []
  const history = createEventHistory<RecordedAction>({
    store,
    clock,
    taken: (act) => {
      acts.push(act)
      if (acts.length >= 2 * MOST_ACTS) acts = acts.slice(-MOST_ACTS)
    },
    failed,
  })

  return {
    note: (act: AuditedAction) => history.add({ at: Math.floor(dateOf(clock)), ...act }),
    /** Returns the actions, the newest first. */
    view: async (): Promise<AuditView> => {
      await history.loaded()
      return { acts: acts.slice(-MOST_ACTS).toReversed() }
    },
    /** Returns the actions of operators on one object, as events of the object's history. */
    about: (kind: StoryKind, id: string): readonly StoryEvent[] =>
      acts.flatMap(({ at, who, what, id: of }) => {
        const [its, did] = TOLD[what] ?? []
        return of === id && its === kind ? [{ at, what: 'operated', text: `${who} ${did}.`, refs: [] }] : []
      }),
    close: history.close,
  }
}

/**
 * The actions that are shown in an object's history. Each has the kind of the object, and a part of a sentence that
 * says what the operator did.
 */
const TOLD: Readonly<Partial<Record<AuditedAction['what'], readonly [StoryKind, did: string]>>> = {
  'cancel-ticket': ['ticket', 'cancelled the ticket'],
  'stop-match': ['match', 'stopped the match'],
  'drain-server': ['server', 'let the server take no more matches'],
  'stop-server': ['server', 'stopped the server'],
  'kill-server': ['server', 'killed the server'],
  'forgive-cooldown': ['player', 'ended the cooldown'],
}
