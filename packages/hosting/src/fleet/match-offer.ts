import { LOST_AFTER_MS } from '../game-servers/index.js'
import type { HostedMatch } from '../records/index.js'

/** Milliseconds within which a server must report a match that is offered to it (our choice). */
export const ANSWER_MS = 3000

/** The state of a match that has no server yet or waits for its server to accept it. */
export type Offer = ReturnType<typeof newOffer>

export const newOffer = (offers: number) => ({
  /** Epoch milliseconds by which the server must reply. Infinity if no reply is awaited. */
  answerBy: Infinity,
  /** Epoch milliseconds until which the server may prepare the match. Undefined until it reports that it does. */
  loadsUntil: undefined as number | undefined,
  offers,
  /** True if no warm server fitted and none may be created now. The next `advance` tries again. */
  isShort: false,
  /** Epoch milliseconds since when `isShort` has been true at each try. Infinity while it is false. */
  shortSince: Infinity,
  /** True if the match was counted as demand of its pool. `uncount` reverts the count. */
  isCounted: offers > 0,
  uncount: undefined as (() => void) | undefined,
})

/** Lets a server that reports go on preparing its match, for as long as the start of a server may take. */
export function loadOn(offer: Offer, { order }: HostedMatch, now: number): void {
  offer.loadsUntil ??= now + (order?.deploy.readyTimeoutMs ?? ANSWER_MS)
  offer.answerBy = Math.min(now + LOST_AFTER_MS, offer.loadsUntil)
}
