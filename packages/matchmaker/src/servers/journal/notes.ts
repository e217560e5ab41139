import type { Journal, JournalEntry } from './journal.js'

/** Notes on what an intent does not say: if one cannot be written, it can still be found out by the tag. */
export interface Notes {
  /** Undefined when it is written already; else resolves when it is, or could not be. */
  note(entry: JournalEntry): Promise<void> | undefined
  /** Resolves when all of them are written, or could not be. */
  written(): Promise<void>
}

export function createNotes(journal: Journal, problem: (error: unknown, matchId: string) => void): Notes {
  const writing = new Set<Promise<void>>()
  return {
    note: (entry) => {
      const failed = (error: unknown) => problem(error, entry.matchId)
      let appended: void | Promise<void>
      try {
        appended = journal.append(entry)
      } catch (error) {
        failed(error)
        return undefined
      }
      if (appended === undefined) return undefined
      const note: Promise<void> = appended.catch(failed).then(() => void writing.delete(note))
      writing.add(note)
      return note
    },
    written: async () => {
      await Promise.all(writing)
    },
  }
}
