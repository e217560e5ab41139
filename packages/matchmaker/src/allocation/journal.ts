/** A deployment that may exist: written down before it is asked for, because it costs money from then on. */
export interface Intent {
  readonly matchId: string
  readonly queue: string
  /** The tag that its deployment will have, and no other. */
  readonly tag: string
  readonly ticketIds: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
}

/** What a journal is told, in this order for each match; `created` and `assigned` may be missing. */
export type JournalEntry =
  | ({ readonly kind: 'intent' } & Intent)
  /** The deployment got its id. */
  | { readonly kind: 'created'; readonly matchId: string; readonly requestId: string }
  /** Players were sent to it. */
  | { readonly kind: 'assigned'; readonly matchId: string }
  /** There is no deployment of this match, or not any more. The journal may forget the match. */
  | { readonly kind: 'settled'; readonly matchId: string }

/** A match that was not settled when the journal was last written to. */
export interface OpenIntent extends Intent {
  readonly requestId?: string | undefined
  readonly assigned: boolean
}

/**
 * Remembers which deployments may exist. Entries must be kept in the order in which `append` was called.
 * A create is sent when the `append` of its intent has resolved, so a journal on disk resolves when the
 * entry is safe.
 */
export interface Journal {
  append(entry: JournalEntry): void | Promise<void>
  /** What is not settled, oldest first. Asked once, before the first match. */
  open(): readonly OpenIntent[] | Promise<readonly OpenIntent[]>
}

/** A journal that lasts as long as the process: it finds lost answers again, but not what a crash left behind. */
export function createMemoryJournal(): Journal {
  const intents = new Map<string, OpenIntent>()
  const change = (matchId: string, changes: Partial<OpenIntent>) => {
    const intent = intents.get(matchId)
    if (intent !== undefined) intents.set(matchId, { ...intent, ...changes })
  }
  return {
    append: (entry) => {
      const { matchId } = entry
      switch (entry.kind) {
        case 'intent': {
          const { kind: _, ...intent } = entry
          intents.set(matchId, { ...intent, assigned: false })
          break
        }
        case 'created':
          change(matchId, { requestId: entry.requestId })
          break
        case 'assigned':
          change(matchId, { assigned: true })
          break
        case 'settled':
          intents.delete(matchId)
      }
    },
    open: () => [...intents.values()],
  }
}
