import type { Clock } from '@muster/core/clock'
import { decodeReply, encode, type Answer, type Command, type Input } from '../asks.js'
import { NoLeader, PartitionFull } from '../errors.js'
import { decodeError } from '../remote-errors.js'

/** Asks the leader, whichever process that is. */
export interface Asking {
  /**
   * The leader's answer. The question is repeated until it is answered, because the leader may change meanwhile.
   * @throws {NoLeader} without an answer in time; {PartitionFull} if too many questions are open; what the leader
   * throws
   */
  ask<Name extends Command>(command: Name, ...input: Input<Name>): Promise<Answer<Name>>
  /** Takes replies to this front. */
  heard(replies: readonly string[]): void
  /** Fails all open questions. */
  close(reason: Error): void
}

export interface AskingOptions {
  readonly post: (text: string) => Promise<void>
  /** Name of this front. */
  readonly front: string
  readonly clock: Clock
  /** Makes ids of questions, which nobody can guess. */
  readonly newId: () => string
  /** Milliseconds to wait for an answer. `stopMatch` takes as long as the service needs to confirm the stop. */
  readonly timeoutMs: number
  readonly problem: (error: unknown) => void
}

interface Open {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
  readonly answered: AbortController
}

const REPEAT_MS = 1000
const STOP_TIMEOUT_MS = 70_000
/** Questions open at once (our choice): what a front holds while no process leads has a bound. */
const MOST_OPEN = 1000

export function createAsking({ post, front, clock, newId, timeoutMs, problem }: AskingOptions): Asking {
  const open = new Map<string, Open>()
  let closed: Error | undefined

  const repeat = async (id: string, text: string, limitMs: number): Promise<void> => {
    const { reject, answered } = open.get(id) as Open
    const deadline = clock.now() + limitMs
    while (!answered.signal.aborted && clock.now() < deadline) {
      await post(text).catch(problem)
      await clock.sleep(Math.min(REPEAT_MS, deadline - clock.now()), answered.signal).catch(() => {})
    }
    open.delete(id)
    reject(new NoLeader(`no process that leads the partition has answered within ${limitMs} ms`))
  }

  return {
    ask: (command, ...input) =>
      new Promise((resolve, reject) => {
        if (closed !== undefined) return reject(closed)
        if (open.size >= MOST_OPEN)
          return reject(new PartitionFull(`${MOST_OPEN} questions to the leader are open already`))
        const id = newId()
        open.set(id, { resolve: resolve as (answer: unknown) => void, reject, answered: new AbortController() })
        const limitMs = command === 'stopMatch' ? Math.max(STOP_TIMEOUT_MS, timeoutMs) : timeoutMs
        void repeat(id, encode({ id, front, command, input: withoutEnd(input) }), limitMs)
      }),

    heard: (replies) => {
      for (const text of replies) {
        const reply = decodeReply(text)
        const asked = reply && open.get(reply.id)
        if (reply === undefined || asked === undefined) continue
        open.delete(reply.id)
        asked.answered.abort()
        if ('error' in reply) asked.reject(decodeError(reply.error))
        else asked.resolve(reply.answer)
      }
    },

    close: (reason) => {
      closed = reason
      for (const { reject, answered } of open.values()) {
        reject(reason)
        answered.abort()
      }
      open.clear()
    },
  }
}

/** The input without what is undefined at its end: JSON would make null of it. */
function withoutEnd(input: readonly unknown[]): readonly unknown[] {
  const last = input.findLastIndex((value) => value !== undefined)
  return input.slice(0, last + 1)
}
