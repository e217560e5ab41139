import { messageOf, scrub } from '@muster/core/internal'
import type { ProblemNow } from '@muster/console/internal'
import type { Matchmaker, MatchmakerEvents } from '@muster/matchmaker'
import { failureText, kindOf } from '../telemetry/log.js'

/** Recent problems, in words. */
export type Problems = ReturnType<typeof createProblems>

/** An activity of the matchmaker, or of the partition that several processes share. */
type ProblemSource = MatchmakerEvents['problem']['during'] | 'partition'

const MOST = 30
const LONGEST_TEXT = 240

const doing: Readonly<Record<ProblemSource, string>> = {
  create: 'A server could not be created',
  find: 'Muster could not search for a server whose create was not answered',
  stop: 'A server could not be stopped; it is tried again',
  list: 'The list of servers could not be read',
  status: 'The status of a server could not be read',
  probe: 'Muster could not check whether a server listens',
  results: 'The result of a match could not be sent to the backend; it is tried again',
  server: 'A report of a game server could not be processed',
  store: 'The store could not be written: no tickets are taken and no servers are created meanwhile',
  locate: 'The place of a player could not be found',
  beacons: 'Ping beacons could not be read',
  rule: 'A custom rule threw an error, so its match was not allowed',
  tick: 'A round of matching failed',
  listener: 'A listener of the program failed',
  partition: 'Something is wrong with Redis',
}

/**
 * Collects problems of the matchmaker. If a problem occurs again with other ids, times or numbers, its count is raised
 * instead of adding a line.
 */
export function createProblems(on: Matchmaker['on'], now: () => number) {
  /** The problems by kind, the newest last. Each has the latest message of its kind. */
  const known = new Map<string, ProblemNow>()
  const add = (text: string, matchId: string | null) => {
    const kind = kindOf(text)
    const count = (known.get(kind)?.count ?? 0) + 1
    known.delete(kind)
    known.set(kind, { at: Math.floor(now()), text, count, matchId })
    if (known.size > MOST) known.delete(known.keys().next().value as string)
  }
  const ends = [
    on('problem', ({ during, error, source, matchId = null }) => add(problemText(during, error, source), matchId)),
    on('deploymentFailed', ({ reason, detail, matchId }) => add(problemOf(failureText(reason, detail)), matchId)),
    on('serverLogs', ({ logs, matchId }) =>
      add(problemOf(`A server that failed wrote last: ${lastLines(logs)}`), matchId),
    ),
  ]
  return {
    /** Returns the problems, the newest first. */
    list: (): readonly ProblemNow[] => [...known.values()].toReversed(),
    close: () => {
      for (const end of ends) end()
    },
  }
}

/** Describes a problem. @param source the source of the server, unless it is the deployment service */
export function problemText(during: ProblemSource, error: unknown, source?: string): string {
  const where = source === undefined ? '' : ` (source ${source})`
  return problemOf(`${doing[during]}${where}: ${scrub(messageOf(error))}`)
}

/** Returns the end of a server's logs. The server's page in the console has the whole text. */
const lastLines = (logs: string) => (logs.length <= LONGEST_TEXT / 2 ? logs : `…${logs.slice(-LONGEST_TEXT / 2)}`)

function problemOf(words: string): string {
  // Replaces ids, because they differ each time and would make each occurrence a new problem.
  const text = words.replace(/\s+/g, ' ').replace(/\b[0-9a-f]{8,}\b/gi, '…')
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`
}
