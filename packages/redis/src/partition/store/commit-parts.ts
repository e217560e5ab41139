// pure: work in steps of bounded size; a commit in parts of bounded size
import type { Commit, RecordChange } from './store.js'

/** Most tickets of one step: a script holds up everybody else while it runs. */
const MOST_TICKETS = 256

/** Cuts items into steps of at most 256 by weight, in order; a single one may weigh more. */
export function cut<T>(items: readonly T[], weigh: (item: T) => number): readonly (readonly T[])[] {
  const steps: T[][] = []
  let room = 0
  for (const item of items) {
    const weight = weigh(item)
    if (room < weight || steps.length === 0) {
      steps.push([])
      room = MOST_TICKETS
    }
    room -= weight
    ;(steps.at(-1) as T[]).push(item)
  }
  return steps
}

/** What a ticket weighs more for being a large party. */
export const partyWeight = (players = 0): number => Math.floor(players / 8)

/**
 * Cuts a commit into steps of at most 256 tickets, in its order: headers, players who left, records, backfills,
 * notes, answers. A single record may need more; of one match there is at most one in a step. Whatever the last step
 * done, what is stored is consistent: a ticket is matched before its match has a record, and assigned before its match
 * is over.
 */
export function partsOf(commit: Commit): readonly Commit[] {
  const { headers = [], left = [], records = [], backfills = [], notes = [], replies = [] } = commit
  const runs = runsOf(records)
  if (runs.length <= 1 && sizeOf(commit) <= MOST_TICKETS) return [commit]
  return [
    ...cut(headers, ({ frees }) => 1 + partyWeight(frees?.length)).map((part): Commit => ({ headers: part })),
    ...cut(left, ({ players }) => 1 + partyWeight(players.length)).map((part): Commit => ({ left: part })),
    ...runs.flatMap((run) => cut(run, ticketsOf)).map((part): Commit => ({ records: part })),
    ...cut(backfills, () => 1).map((part): Commit => ({ backfills: part })),
    ...cut(notes, () => 1).map((part): Commit => ({ notes: part })),
    ...cut(replies, () => 1).map((part): Commit => ({ replies: part })),
  ]
}

/** Records in runs, in order: no match comes twice in one. */
function runsOf(records: readonly RecordChange[]): readonly (readonly RecordChange[])[] {
  const runs: RecordChange[][] = []
  let matches = new Set<string>()
  for (const record of records) {
    if (runs.length === 0 || matches.has(record.matchId)) {
      runs.push([])
      matches = new Set()
    }
    matches.add(record.matchId)
    ;(runs.at(-1) as RecordChange[]).push(record)
  }
  return runs
}

function sizeOf({ headers, left, records, backfills, notes, replies }: Commit): number {
  let size = 0
  for (const each of [headers, left, backfills, notes, replies]) size += each?.length ?? 0
  for (const { frees } of headers ?? []) size += partyWeight(frees?.length)
  for (const { players } of left ?? []) size += partyWeight(players.length)
  for (const record of records ?? []) size += ticketsOf(record)
  return size
}

const ticketsOf = (change: RecordChange): number => {
  if (change.text !== undefined) return 1 + (change.requires?.length ?? 0)
  return 1 + (change.ends?.reduce((sum, { players }) => sum + 1 + partyWeight(players.length), 0) ?? 0)
}
