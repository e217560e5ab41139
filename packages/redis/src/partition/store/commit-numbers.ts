/** A commit of a leader. */
interface CommitPosition {
  /** Number of the leader's epoch. */
  readonly epoch: number
  /** Token of the leader. After a loss, the epoch of another leader may have the same number. */
  readonly token: string
  /** Number of the commit in the epoch, from 1. */
  readonly number: number
}

/** The fields of the hash `inForce` with the numbers of commits: `<number> <token>` of an epoch's last commit. */
export const NUMBERS = ['done', 'before'] as const

/**
 * Lua. `numberOf(key, token, least)`: the number of the last commit of the token's epoch, 0 if there is none; then what
 * is stored about the last commit of any epoch. Nothing if the number is less than `least`, because Redis has lost
 * commits. Then 0 is stored, so that each process notices the loss: the next leader may not know the last number.
 */
export const NUMBER_OF = `
local function numberOf(key, token, least)
  local last = redis.call('HGET', key, '${NUMBERS[0]}')
  local number, by = string.match(last or '', '^(%d+) (.*)$')
  number = by == token and tonumber(number) or 0
  if number >= tonumber(least) then return number, last end
  redis.call('HSET', key, '${NUMBERS[0]}', '0 ' .. token)
end`

const positionOf = (token: string, number: number): CommitPosition => ({
  epoch: Number.parseInt(token, 10),
  token,
  number,
})

function readPosition(text: string | null | undefined): CommitPosition | undefined {
  const [, number, token] = /^(\d+) (\d+:.*)$/.exec(text ?? '') ?? []
  return token === undefined ? undefined : positionOf(token, Number(number))
}

const isBefore = (one: CommitPosition, other: CommitPosition): boolean =>
  one.epoch === other.epoch ? one.token !== other.token || one.number < other.number : one.epoch < other.epoch

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
  /** Number of the losses that were noticed. */
  #losses = 0

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
    const newest = positionOf(token, number)
    if (this.#newest === undefined || isBefore(this.#newest, newest)) this.#newest = newest
  }
  /**
   * Reads the stored numbers, and compares them with the newest commit that was known before the read. Returns true
   * once for each time that Redis has gone back. False for an empty Redis.
   */
  async hasGoneBack(read: () => Promise<readonly (string | null)[]>): Promise<boolean> {
    const [known, losses] = [this.#newest, this.#losses]
    const [last, before] = (await read()).map(readPosition)
    // The previous epoch's last commit shows a loss even if another process leads already.
    const comparable = known !== undefined && before?.epoch === known.epoch ? before : last
    const isLess = known !== undefined && comparable !== undefined && isBefore(comparable, known)
    // Another read at the same time may have noticed the loss.
    const hasLost = isLess && losses === this.#losses
    if (hasLost) this.#losses += 1
    // A commit that was confirmed during the read is newer than what was read.
    if (this.#newest === known) this.#newest = last
    return hasLost
  }
}
