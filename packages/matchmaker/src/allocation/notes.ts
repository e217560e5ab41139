import type { Journal, JournalEntry } from './journal.js'

/** Notes for which nothing waits. */
export interface Notes {
  note(entry: JournalEntry): void
  /** Resolves when all of them are written, or could not be. */
  written(): Promise<void>
}

/** What an intent does not say is noted on the side: if that fails, it can still be found out by the tag. */
export function createNotes(journal: Journal, problem: (error: unknown, matchId: string) => void): Notes {
  const writing = new Set<Promise<void>>()
  const write = async (entry: JournalEntry): Promise<void> => {
    try {
      await journal.append(entry)
    } catch (error) {
      problem(error, entry.matchId)
    }
  }
  return {
    note: (entry) => {
      const note = write(entry)
      writing.add(note)
      void note.then(() => writing.delete(note))
    },
    written: async () => {
      await Promise.all(writing)
    },
  }
}
