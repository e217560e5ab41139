import { InvalidInput } from '@muster/core'
import { cut, defineScript, MOST_WEIGHT, type Reply } from '../../connection/index.js'
import { splitHeader } from './assignments.js'
import { COMMIT } from './commit-lua.js'
import { type HeaderPrefix, readPrefix } from './header.js'
import type { Commit, CommitOutcome, NewHeader, RecordChange } from './store.js'

export interface StoreBounds {
  /** Most tickets, with those that ended and are still kept. Default 1,000,000. */
  readonly maxTickets: number
  /** Most bytes of a ticket's body. Default 262,144. */
  readonly maxBodyBytes: number
  /** Most bytes of an RPC request to the leader. Default 262,144. */
  readonly maxAskBytes: number
  /** About how many entries the leader's inbox keeps for who reads behind. Default 16,384. */
  readonly inboxEntries: number
  /** About how many entries of changes are kept for who reads behind. Default 8192. */
  readonly changeEntries: number
  /** Milliseconds for which entries of both are kept; the newest few stay. Default 300,000. */
  readonly entryMs: number
  /** About how many replies are kept for a follower. Default 1024. */
  readonly replyEntries: number
  /** Milliseconds for which replies to a follower are kept. Default 60,000. */
  readonly replyMs: number
}

export const DEFAULT_BOUNDS: StoreBounds = {
  maxTickets: 1_000_000,
  maxBodyBytes: 262_144,
  maxAskBytes: 262_144,
  inboxEntries: 16_384,
  changeEntries: 8192,
  entryMs: 300_000,
  replyEntries: 1024,
  replyMs: 60_000,
}

/** Characters of replies that are kept for a follower in all, beside the newest. */
const REPLIES_LENGTH = 16 * 1024 * 1024

/** How many replies to keep once these are added: of long ones fewer. A follower that misses one retries. */
function repliesKept(texts: readonly string[], { replyEntries }: StoreBounds): number {
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 1)
  return Math.min(replyEntries, Math.max(texts.length, Math.floor(REPLIES_LENGTH / longest)))
}

/** @throws {InvalidInput} for a text of more bytes. */
export function assertWithinBytes(field: string, text: string, mostBytes: number): void {
  // Each UTF-16 unit is at most three bytes.
  if (text.length * 3 <= mostBytes) return
  const bytes = Buffer.byteLength(text)
  if (bytes > mostBytes)
    throw new InvalidInput(`${field}: must have at most ${mostBytes} bytes, got ${bytes}`, { field })
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
  if (runs.length <= 1 && sizeOf(commit) <= MOST_WEIGHT) return [commit]
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

export const commitScript = defineScript({
  name: 'partition.commit',
  lua: COMMIT,
  kind: 'write-if-full',
  read: readCommitted,
})

type Words = (string | number)[]

/**
 * The words of one part of a commit (see `partsOf`), in which no match and no ticket comes twice.
 * @param replies those of the part, by follower.
 */
export function commitWords(
  token: string,
  commit: Commit,
  replies: ReadonlyMap<string, readonly string[]>,
  bounds: StoreBounds,
): Words {
  const { headers = [], left = [], records = [], backfills = [], notes = [] } = commit
  const words: Words = [token, bounds.changeEntries]
  const prefixes = headers.map(({ header }) => readPrefix(header))
  headerWords(headers, prefixes, words)
  words.push(left.length)
  for (const { ticketId, players } of left) words.push(ticketId, players.length, ...players)
  writeWords(records.filter(isWritten), matchesOf(headers, prefixes), words)
  overWords(records.filter(isOver), words)
  words.push(backfills.length)
  for (const { backfillId, text } of backfills) {
    if (text === undefined) words.push(0, backfillId)
    else words.push(1, backfillId, text)
  }
  words.push(notes.length)
  for (const { key, text } of notes) {
    if (text === undefined) words.push(0, key)
    else words.push(1, key, text)
  }
  words.push(replies.size)
  for (const texts of replies.values()) words.push(repliesKept(texts, bounds), bounds.replyMs, texts.length, ...texts)
  return words
}

/** The answers of a commit, by follower. */
export function repliesOf({ replies = [] }: Commit): ReadonlyMap<string, readonly string[]> {
  const byFollower = new Map<string, string[]>()
  for (const { follower, text } of replies) {
    const texts = byFollower.get(follower)
    if (texts === undefined) byFollower.set(follower, [text])
    else texts.push(text)
  }
  return byFollower
}

type WrittenRecord = Extract<RecordChange, { readonly text: string }>
type OverRecord = Exclude<RecordChange, WrittenRecord>
const isWritten = (change: RecordChange): change is WrittenRecord => change.text !== undefined
const isOver = (change: RecordChange): change is OverRecord => change.text === undefined

function headerWords(headers: readonly NewHeader[], prefixes: readonly HeaderPrefix[], words: Words): void {
  words.push(headers.length)
  for (const { ticketId } of headers) words.push(ticketId)
  const assignments = new Map<string, string>()
  for (const [index, whole] of headers.entries()) {
    const { header, assignment } = splitHeader(whole.header)
    words.push(header)
    if (assignment !== undefined) assignments.set(prefixes[index]?.matchId ?? '', assignment)
  }
  const lines = prefixes.map(({ letter, version }, index) => `${headers[index]?.ticketId} ${letter}${version}`)
  if (lines.length > 0) words.push(lines.join('\n'), assignments.size)
  for (const [matchId, assignment] of assignments) words.push(matchId, assignment)
  const at = words.push(0) - 1
  let withEffects = 0
  for (const [index, { ended = prefixes[index]?.letter === 'C', frees = [] }] of headers.entries()) {
    if (!ended && frees.length === 0) continue
    withEffects += 1
    words.push(index + 1, ended ? endOf(prefixes[index] as HeaderPrefix) : 0, frees.length, ...frees)
  }
  words[at] = withEffects
}

/** With an assigned ticket, the assignment of its match is swept. */
const endOf = ({ letter, matchId }: HeaderPrefix) => (letter === 'A' && matchId !== undefined ? `=${matchId}` : 1)

/** The matches that tickets are in by these headers. */
function matchesOf(headers: readonly NewHeader[], prefixes: readonly HeaderPrefix[]): ReadonlyMap<string, string> {
  const matches = new Map<string, string>()
  for (const [index, { letter, matchId }] of prefixes.entries()) {
    const isInMatch = matchId !== undefined && (letter === 'M' || letter === 'A')
    if (isInMatch) matches.set((headers[index] as NewHeader).ticketId, matchId)
  }
  return matches
}

function writeWords(records: readonly WrittenRecord[], matches: ReadonlyMap<string, string>, words: Words): void {
  const requiring = records.filter(({ requires = [] }) => requires.length > 0)
  const others = requiring.length === 0 ? records : records.filter(({ requires = [] }) => requires.length === 0)
  words.push(records.length)
  for (const { matchId, text } of requiring) words.push(matchId, text)
  for (const { matchId, text } of others) words.push(matchId, text)
  words.push(requiring.length)
  for (const { matchId, requires = [], locks } of requiring) {
    const mode = locks === true ? 'l' : 'r'
    const isImplied = requires.every((id) => matches.get(id) === matchId)
    words.push(`${isImplied ? mode.toUpperCase() : mode} ${requires.join(' ')}`)
  }
}

function overWords(records: readonly OverRecord[], words: Words): void {
  words.push(records.length)
  if (records.length === 0) return
  const ends = records.flatMap((record) => record.ends ?? [])
  const players = ends.flatMap((one) => one.players)
  for (const { matchId } of records) words.push(matchId)
  for (const record of records) words.push(record.ends?.length ?? 0)
  words.push(ends.length)
  for (const { ticketId } of ends) words.push(ticketId)
  for (const one of ends) words.push(one.players.length)
  words.push(players.length)
  for (const playerId of players) words.push(playerId)
}

function readCommitted(reply: Reply): CommitOutcome {
  if (reply === 1) return { refused: [], unmet: [] }
  const [refused, unmet] = reply as unknown as readonly [
    readonly (readonly [string, string | null])[],
    readonly (readonly [string, readonly string[]])[],
  ]
  return {
    refused: refused.map(([ticketId, header]) => ({ ticketId, header: header ?? undefined })),
    unmet: unmet.map(([matchId, ticketIds]) => ({ matchId, ticketIds })),
  }
}
