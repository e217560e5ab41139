import { scrub } from '@muster/core'
import type { ProblemNow } from '@muster/console/wire'
import type { Matchmaker, MatchmakerEvents } from '@muster/matchmaker'

/** What went wrong lately, in words. */
export interface Problems {
  /** Newest first. */
  list(): readonly ProblemNow[]
  close(): void
}

type Problem = MatchmakerEvents['problem']

const MOST = 30
const LONGEST_TEXT = 240

const doing: Readonly<Record<Problem['during'], string>> = {
  create: 'A server could not be created',
  find: 'A server whose create was not answered could not be looked for',
  stop: 'A server could not be stopped; it is tried again',
  list: 'The list of servers could not be read',
  status: 'The status of a server could not be read',
  probe: 'It could not be found out whether a server listens',
  journal: 'The journal could not be written; no servers are created meanwhile',
  locate: 'The place of a player could not be found',
  beacons: 'Ping beacons could not be read',
  rule: 'A custom rule failed, which counts as a no',
  tick: 'A round of matching failed',
  'ticket-log': 'The log of waiting tickets could not be written; a restart would lose some of them',
  listener: 'A listener of the program failed',
}

/** The same problem again counts up instead of taking a line. */
export function createProblems(on: Matchmaker['on'], now: () => number): Problems {
  /** By text, the newest last. */
  const known = new Map<string, ProblemNow>()
  const end = on('problem', ({ during, error, matchId = null }) => {
    const text = problemText(during, error)
    const count = (known.get(text)?.count ?? 0) + 1
    known.delete(text)
    known.set(text, { at: Math.floor(now()), text, count, matchId })
    if (known.size > MOST) known.delete(known.keys().next().value as string)
  })
  return { list: () => [...known.values()].toReversed(), close: end }
}

export function problemText(during: Problem['during'], error: unknown): string {
  const why = scrub(error instanceof Error ? error.message : String(error))
    .replace(/\s+/g, ' ')
    // Ids differ each time, and would make each problem one of its own.
    .replace(/\b[0-9a-f]{8,}\b/gi, '…')
  const text = `${doing[during]}: ${why}`
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`
}
