import { InvalidInput } from '@muster/core'

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
export function repliesKept(texts: readonly string[], { replyEntries }: StoreBounds): number {
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
