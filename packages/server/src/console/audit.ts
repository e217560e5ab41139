import { dateOf } from '@muster/core/clock'
import type { Audit as AuditView, StoryEvent, StoryKind } from '@muster/console/internal'
import type { Act } from './options.js'
import { createEventHistory, type EventHistoryOptions } from './stories/index.js'

/** What operators did, the newest of it. The log has a line for each act, too. */
export type Audit = ReturnType<typeof createAudit>

export type AuditOptions = Omit<EventHistoryOptions<RecordedAct>, 'taken'>

type RecordedAct = Act & { readonly at: number }

/** Acts that are remembered and shown (our choice). */
const MOST_ACTS = 1000

/** Bounds of the store: acts are few, and are asked about long after stories are gone (our choice: 90 days). */
export const AUDIT_BOUNDS = { keepMs: 90 * 86_400_000, mostBytes: 1024 * 1024 }

export function createAudit({ store, clock, failed }: AuditOptions) {
  let acts: RecordedAct[] = []
  const history = createEventHistory<RecordedAct>({
    store,
    clock,
    taken: (act) => {
      acts.push(act)
      if (acts.length >= 2 * MOST_ACTS) acts = acts.slice(-MOST_ACTS)
    },
    failed,
  })

  return {
    note: (act: Act) => history.add({ at: Math.floor(dateOf(clock)), ...act }),
    /** The newest first. */
    view: async (): Promise<AuditView> => {
      await history.loaded()
      return { acts: acts.slice(-MOST_ACTS).toReversed() }
    },
    /** What operators did to one thing, as events of its story. */
    about: (kind: StoryKind, id: string): readonly StoryEvent[] =>
      acts
        .filter((act) => act.id === id && KINDS[act.what] === kind)
        .map(({ at, who, what }) => ({ at, what: 'operated', text: `${who} ${DID[what]}.`, refs: [] })),
    close: history.close,
  }
}

/** What each act is done to, of the things that have stories. */
const KINDS: Readonly<Partial<Record<Act['what'], StoryKind>>> = {
  'cancel-ticket': 'ticket',
  'stop-match': 'match',
  'drain-server': 'server',
  'kill-server': 'server',
  'stop-server': 'server',
  'forgive-cooldown': 'player',
}

const DID: Readonly<Record<Act['what'], string>> = {
  'cancel-ticket': 'cancelled the ticket',
  'stop-match': 'stopped the match',
  'drain-server': 'let the server take no more matches',
  'pause-queue': 'paused the queue',
  'resume-queue': 'resumed the queue',
  'pause-pool': 'paused the pool',
  'repeat-result': 'repeated the result of match',
  'drop-result': 'dropped the result of match',
  'resume-pool': 'resumed the pool',
  'stop-server': 'stopped the server',
  'revoke-enrolment': 'revoked the enrolment key',
  'apply-queue': 'changed the queue',
  'forgive-cooldown': 'ended the cooldown',
  'kill-server': 'killed the server',
  'let-bots-in': 'let bots in',
}
