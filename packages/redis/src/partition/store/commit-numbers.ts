/** A commit of a leader. */
interface CommitPosition {
  /** Number of the leader's epoch. */
  readonly epoch: number
  /** Number of the commit in the epoch, from 1. */
  readonly number: number
}

/** The fields of the hash `inForce` with the numbers of commits: `<number> <token>` of an epoch's last commit. */
export const NUMBERS = ['done', 'before'] as const

/**
 * Lua. `numberOf(key, token)`: the number of the last commit of the token's epoch, 0 if there is none; then what is
 * stored about the last commit of any epoch.
 */
export const NUMBER_OF = `
local function numberOf(key, token)
  local last = redis.call('HGET', key, '${NUMBERS[0]}')
  local number, by = string.match(last or '', '^(%d+) (.*)$')
  return by == token and tonumber(number) or 0, last
end`

function readPosition(text: string | null | undefined): CommitPosition | undefined {
  const [, number, epoch] = /^(\d+) (\d+):/.exec(text ?? '') ?? []
  return number === undefined ? undefined : { epoch: Number(epoch), number: Number(number) }
}

const isBefore = (one: CommitPosition, other: CommitPosition): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number)

/**
 * Numbers the commits of each epoch. Redis has gone back to an earlier state if it has a lower number than this process
 * knows: an older snapshot was restored, or a failover lost the last writes.
 */
export class CommitNumbers {
  #token = ''
  /** The last numbers of the token's epoch: of the commits that were sent, and of those that Redis has confirmed. */
  #sent = 0
  #done = 0
  /** The newest commit that this process knows of, by any leader. */
  #newest: CommitPosition | undefined

  /** Returns the number of the next commit. */
  next(token: string): number {
    if (token !== this.#token) [this.#token, this.#sent, this.#done] = [token, 0, 0]
    this.#sent += 1
    return this.#sent
  }
  /** Returns the number of the last commit of the token's epoch that Redis must have. */
  done(token: string): number {
    return token === this.#token ? this.#done : 0
  }
  /** Redis has confirmed a commit. */
  confirmed(token: string, number: number): void {
    if (token === this.#token) this.#done = Math.max(this.#done, number)
    const newest = { epoch: Number.parseInt(token, 10), number }
    if (this.#newest === undefined || isBefore(this.#newest, newest)) this.#newest = newest
  }
  /**
   * Reads the stored numbers, and compares them with the newest commit that was known before the read. Returns true
   * once for each time that Redis has gone back. False for an empty Redis.
   */
  async hasGoneBack(read: () => Promise<readonly (string | null)[]>): Promise<boolean> {
    const known = this.#newest
    const [last, before] = (await read()).map(readPosition)
    // The previous epoch's last commit shows a loss even if another process leads already.
    const comparable = known !== undefined && before?.epoch === known.epoch ? before : last
    const hasLost = known !== undefined && comparable !== undefined && isBefore(comparable, known)
    // A commit that was confirmed during the read is newer than what was read.
    if (this.#newest === known) this.#newest = last
    return hasLost
  }
}
