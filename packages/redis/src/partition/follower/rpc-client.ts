import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createAttempts, within } from '@muster/core/internal'
import type { StopMatchOptions } from '@muster/matchmaker'
import { type RpcAnswer, type RpcCommand, decodeError, decodeReply, encode, type RpcInput, serverIn } from '../rpc.js'
import { NoLeader, PartitionFull } from '../partition-errors.js'

/** Sends RPC requests to the leader, regardless of which process that is. */
export type RpcClient = ReturnType<typeof createRpcClient>

export interface RpcClientOptions {
  readonly post: (text: string) => Promise<void>
  /** Name of this follower. */
  readonly follower: string
  readonly clock: Clock
  /** Creates unguessable ids of RPC requests. */
  readonly newId: () => string
  /** Milliseconds to wait for a reply. `stopMatch` takes as long as the service needs to confirm the stop. */
  readonly timeoutMs: number
  readonly problem: (error: unknown) => void
}

/** Milliseconds after which an RPC request is posted again. */
const REPEAT_MS = 1000
const STOP_TIMEOUT_MS = 70_000
/**
 * Maximum size of a request in bytes (our choice), because Redis keeps requests for minutes. Reports of game servers
 * may be larger, see `REPORTED`.
 */
const MOST_BYTES = 262_144
/**
 * Maximum size of the reports of one server in KiB (our choice), because Redis keeps them for minutes: 4 MiB at once,
 * and 64 KiB per second in the long run.
 */
const REPORTED = { limit: 4096, windowMs: 64_000 }
/** Maximum number of servers whose reports are measured (our choice). */
const MOST_MEASURED = 10_000
/** Maximum number of open RPC requests (our choice), because a follower holds them while there is no leader. */
const MOST_OPEN = 1000
/**
 * Kinds of RPC requests that get only a part of `MOST_OPEN` (our choice), so that players' commands have room. Anybody
 * can cause the first kind by guessing a secret. `GET /me` works without the second. Game servers send the third.
 */
const PARTS: readonly { readonly commands: ReadonlySet<RpcCommand>; readonly most: number }[] = [
  { commands: new Set(['isServerSecret', 'isEnrolmentKey', 'serverReady', 'webhook']), most: 100 },
  { commands: new Set(['seatsOf']), most: 200 },
  { commands: new Set(['registerServer', 'enrolServer', 'reportServer', 'waitForServerOrders']), most: 500 },
]

export function createRpcClient({ post, follower, clock, newId, timeoutMs, problem }: RpcClientOptions) {
  const open = new Map<string, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>()
  const openOf = PARTS.map(() => 0)
  let closed: Error | undefined
  const reported = createAttempts({ ...REPORTED, clock, maxKeys: MOST_MEASURED })

  /** Counts the size of a report, unless it is refused. @throws {PartitionFull} if the server has sent too much */
  const countReport = (server: string, text: string) => {
    const size = Math.ceil(Buffer.byteLength(text) / 1024)
    for (let kib = 0; kib < size; kib += 1) {
      const waitMs = reported.take(server)
      if (waitMs === 0) continue
      for (let taken = 0; taken < kib; taken += 1) reported.giveBack(server)
      const retryAfterMs = waitMs + (size - kib - 1) * (REPORTED.windowMs / REPORTED.limit)
      throw new PartitionFull('The reports of this server are too large.', { retryAfterMs })
    }
  }

  /** Posts a request repeatedly until it is over. */
  const keepPosting = async (id: string, first: string, textAgain: () => string, over: AbortSignal) => {
    for (let text = first; ; text = textAgain()) {
      await post(text).catch((error: unknown) => {
        if (error instanceof InvalidInput) open.get(id)?.reject(error)
        else problem(error)
      })
      await clock.sleep(REPEAT_MS, over).catch(() => {})
      if (over.aborted) return
    }
  }

  return {
    /**
     * Returns the leader's reply. The RPC request is repeated until there is one, because the leader may change
     * meanwhile.
     * @throws {NoLeader} without a reply in time; {PartitionFull} if too many RPC requests are open, or for a server
     *   that reports too much; {InvalidInput} for one that is too long; the leader's error
     */
    ask: async <Name extends RpcCommand>(command: Name, ...input: RpcInput<Name>): Promise<RpcAnswer<Name>> => {
      if (closed !== undefined) throw closed
      const part = PARTS.findIndex(({ commands }) => commands.has(command))
      const count = (change: number) => {
        if (part !== -1) openOf[part] = (openOf[part] ?? 0) + change
      }
      if (open.size >= MOST_OPEN || (openOf[part] ?? 0) >= (PARTS[part]?.most ?? Infinity))
        throw new PartitionFull('Too many commands to the leader are open. Retry later.')
      count(1)
      const id = newId()
      const limitMs = waitsForStop(command, input) ? Math.max(STOP_TIMEOUT_MS, timeoutMs) : timeoutMs
      const textOf = (again: boolean) => encode({ id, again, front: follower, command, input: withoutEnd(input) })
      const over = new AbortController()
      const answered = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }))
      try {
        // An input that JSON cannot hold fails here, where the caller gets the error.
        const first = textOf(false)
        if (command === 'reportServer') countReport(serverIn(`${input[0]}`), first)
        else assertSize(first)
        void keepPosting(id, first, () => textOf(true), over.signal)
        const found = await within(
          answered.then((answer) => ({ answer })),
          limitMs,
          clock,
        )
        if (found === undefined) throw noAnswer(limitMs)
        return found.answer as RpcAnswer<Name>
      } finally {
        over.abort()
        open.delete(id)
        count(-1)
      }
    },

    /** Receives replies to this follower. */
    receive: (replies: readonly string[]) => {
      for (const text of replies) {
        const reply = decodeReply(text)
        const pending = reply && open.get(reply.id)
        if (reply === undefined || pending === undefined) continue
        if ('error' in reply) pending.reject(decodeError(reply.error))
        else pending.resolve(reply.answer)
      }
    },

    /** Fails all open RPC requests. */
    close: (reason: Error) => {
      closed = reason
      for (const { reject } of open.values()) reject(reason)
    },
  }
}

const waitsForStop = (command: RpcCommand, [, options]: readonly unknown[]): boolean =>
  command === 'stopMatch' && (options as StopMatchOptions | undefined)?.until !== 'recorded'

/** Returns the input without trailing undefined values, which JSON would convert to null. */
function withoutEnd(input: readonly unknown[]): readonly unknown[] {
  const last = input.findLastIndex((value) => value !== undefined)
  return input.slice(0, last + 1)
}

const noAnswer = (ms: number) =>
  new NoLeader(`No answer from the leader within ${ms / 1000} s. The command may have run; retrying is safe.`)

/** @throws {InvalidInput} for a request that is too long */
function assertSize(text: string): void {
  // Each UTF-16 unit is at most three bytes.
  if (text.length * 3 <= MOST_BYTES) return
  const bytes = Buffer.byteLength(text)
  if (bytes > MOST_BYTES)
    throw new InvalidInput(`ask: must have at most ${MOST_BYTES} bytes, got ${bytes}`, { field: 'ask' })
}
