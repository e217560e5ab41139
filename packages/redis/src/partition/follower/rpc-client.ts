import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/internal'
import type { StopMatchOptions } from '@muster/matchmaker'
import { type Answer, type Command, decodeError, decodeReply, encode, type Input } from '../rpc.js'
import { NoLeader, PartitionFull } from '../partition-errors.js'

/** Sends RPC requests to the leader, whichever process that is. */
export interface RpcClient {
  /**
   * The leader's answer. The RPC request is repeated until it is answered, because the leader may change meanwhile.
   * @throws {NoLeader} without an answer in time; {PartitionFull} if too many RPC requests are open; {InvalidInput} for
   * one that is too long; what the leader throws
   */
  ask<Name extends Command>(command: Name, ...input: Input<Name>): Promise<Answer<Name>>
  /** Takes replies to this follower. */
  heard(replies: readonly string[]): void
  /** Fails all open RPC requests. */
  close(reason: Error): void
}

export interface RpcClientOptions {
  readonly post: (text: string) => Promise<void>
  /** Name of this follower. */
  readonly follower: string
  readonly clock: Clock
  /** Makes ids of RPC requests, which nobody can guess. */
  readonly newId: () => string
  /** Milliseconds to wait for an answer. `stopMatch` takes as long as the service needs to confirm the stop. */
  readonly timeoutMs: number
  readonly problem: (error: unknown) => void
}

interface Open {
  readonly isFromAnybody: boolean
  readonly textOf: (again: boolean) => string
  isPosted: boolean
  readonly limitMs: number
  /** When it fails, and when it is posted again; by the clock. */
  readonly deadline: number
  repeatAt: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

const REPEAT_MS = 1000
/** Milliseconds between two looks at what is to be repeated or has failed. One timer is for all RPC requests. */
const LOOK_MS = 100
const STOP_TIMEOUT_MS = 70_000
/** RPC requests open at once (our choice): what a follower holds while no process leads has a bound. */
const MOST_OPEN = 1000
/**
 * Most open RPC requests that check a secret. Each guess causes one, so guesses get only a part of `MOST_OPEN` (our
 * choice).
 */
const FROM_ANYBODY: ReadonlySet<Command> = new Set(['isServerSecret', 'serverReady', 'webhook'])
const MOST_FROM_ANYBODY = 100

export function createRpcClient({ post, follower, clock, newId, timeoutMs, problem }: RpcClientOptions): RpcClient {
  const open = new Map<string, Open>()
  let fromAnybody = 0
  let closed: Error | undefined

  /** The RPC request is open no longer. Undefined if it was not. */
  const end = (id: string): Open | undefined => {
    const ended = open.get(id)
    if (ended?.isFromAnybody === true) fromAnybody -= 1
    open.delete(id)
    return ended
  }

  const postOne = (id: string, one: Open) => {
    const text = one.textOf(one.isPosted)
    one.isPosted = true
    one.repeatAt = Infinity
    void post(text)
      .catch((error: unknown) => {
        if (error instanceof InvalidInput) end(id)?.reject(error)
        else problem(error)
      })
      .then(() => {
        one.repeatAt = clock.now() + REPEAT_MS
      })
  }
  const look = async () => {
    const now = clock.now()
    for (const [id, one] of open) {
      if (now >= one.deadline) {
        end(id)?.reject(noAnswer(one.limitMs))
      } else if (now >= one.repeatAt) postOne(id, one)
    }
  }
  const looking = createTicker({ clock, everyMs: LOOK_MS, tick: look, isNeeded: () => open.size > 0 })

  return {
    ask: <Name extends Command>(command: Name, ...input: Input<Name>) =>
      new Promise<Answer<Name>>((resolve, reject) => {
        if (closed !== undefined) return reject(closed)
        const isFromAnybody = FROM_ANYBODY.has(command)
        if (open.size >= MOST_OPEN || (isFromAnybody && fromAnybody >= MOST_FROM_ANYBODY))
          return reject(new PartitionFull('Too many commands to the leader are open. Retry later.'))
        if (isFromAnybody) fromAnybody += 1
        const id = newId()
        const limitMs = waitsForStop(command, input) ? Math.max(STOP_TIMEOUT_MS, timeoutMs) : timeoutMs
        const one: Open = {
          isFromAnybody,
          textOf: (again) => encode({ id, again, front: follower, command, input: withoutEnd(input) }),
          isPosted: false,
          limitMs,
          deadline: clock.now() + limitMs,
          repeatAt: Infinity,
          resolve: resolve as (answer: unknown) => void,
          reject,
        }
        open.set(id, one)
        postOne(id, one)
        looking.wake()
      }),

    heard: (replies) => {
      for (const text of replies) {
        const reply = decodeReply(text)
        const asked = reply && end(reply.id)
        if (reply === undefined || asked === undefined) continue
        if ('error' in reply) asked.reject(decodeError(reply.error))
        else asked.resolve(reply.answer)
      }
    },

    close: (reason) => {
      closed = reason
      for (const id of open.keys()) end(id)?.reject(reason)
      void looking.stop()
    },
  }
}

const waitsForStop = (command: Command, [, options]: readonly unknown[]): boolean =>
  command === 'stopMatch' && (options as StopMatchOptions | undefined)?.until !== 'recorded'

/** The input without what is undefined at its end: JSON would make null of it. */
function withoutEnd(input: readonly unknown[]): readonly unknown[] {
  const last = input.findLastIndex((value) => value !== undefined)
  return input.slice(0, last + 1)
}

const noAnswer = (ms: number) =>
  new NoLeader(`No answer from the leader within ${ms / 1000} s. The command may have run; retrying is safe.`)
