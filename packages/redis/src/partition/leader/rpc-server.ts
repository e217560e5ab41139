import { MusterError } from '@muster/core'
import type { Leader } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import {
  type RpcRequest,
  beginningOf,
  type Command,
  decodeRequest,
  encodeNotice,
  encode,
  encodeError,
  type PackedPresence,
  PROMISES,
  type RpcReply,
  serverIn,
  unpackPresence,
} from '../rpc.js'

type ServerOrders = Awaited<ReturnType<Leader['reportServer']>>
type ReportInput = Parameters<Leader['reportServer']>

export interface RpcServerOptions {
  readonly leader: Leader
  /** Answers a follower, with all that the leader has decided before: an answer must not come before what it tells. */
  readonly reply: (follower: string, text: string) => void
  /** The reply to a follower that begins so, if this leader or one before has kept one. */
  readonly answered: (follower: string, begins: string) => Promise<string | undefined>
  readonly problem: (error: unknown) => void
}

/** What may be done twice. */
const REPEATABLE: ReadonlySet<string> = new Set(['read', 'level'])
/** Answers that are remembered, so that a repeated question is not done again: how many, and their length in all. */
const REMEMBERED = 10_000
const REMEMBERED_LENGTH = 16 * 1024 * 1024
/** Milliseconds after a report in which its follower is told of other orders: longer than a report waits for them. */
const WATCH_MS = 30_000
/** Most characters of one answer (our choice): Redis keeps answers for some time. */
const LONGEST = 16 * 1024 * 1024

function handled(leader: Leader, { command, input }: RpcRequest): unknown {
  // A follower of another version may know more.
  if (!Object.hasOwn(PROMISES, command))
    throw new Error('The leader does not know this command. Run the same version in all processes.')
  if (command === 'notePresence')
    return leader.notePresence((input[0] as readonly PackedPresence[]).map(unpackPresence))
  if (command === 'webhook') return webhookStatus(leader, String(input[0]), String(input[1]))
  return Reflect.apply(leader[command], leader, input)
}

async function webhookStatus(leader: Leader, path: string, body: string): Promise<number> {
  const url = new URL(path, 'http://webhook.invalid')
  return (await leader.webhook(new Request(url, { method: 'POST', body }))).status
}

/** A reply as text. One that is too long becomes an error. */
function textOf(reply: RpcReply): string {
  const text = encode(reply)
  if (text.length <= LONGEST) return text
  const error = new MusterError(`The answer of the leader is too long: ${text.length} characters, at most ${LONGEST}.`)
  return encode({ id: reply.id, error: encodeError(error) })
}

/** Answers the RPC requests of followers, each once. */
export function createRpcServer(options: RpcServerOptions) {
  const { leader, reply, answered, problem } = options
  /** Replies by the id of their question: of what must not be done again. */
  const replies = new LRUCache<string, string>({
    maxSize: REMEMBERED_LENGTH,
    // No more than `REMEMBERED` of them, and no memory for those that there are not.
    sizeCalculation: (text) => Math.max(text.length, Math.ceil(REMEMBERED_LENGTH / REMEMBERED)),
  })
  /** Ids of RPC requests that are being answered. */
  const underWay = new Set<string>()

  /** From now on the follower is told when the server's orders change, until the server reports again. */
  const watch = (follower: string, [token, { instance }]: ReportInput, { version }: ServerOrders) => {
    leader.waitForServerOrders(token, { instance, version, waitMs: WATCH_MS }).then(
      (now) => {
        if (now.version !== version) reply(follower, encodeNotice({ server: serverIn(token), version: now.version }))
      },
      // The server is gone, or this process leads no longer: the server hears of that when it reports.
      () => {},
    )
  }

  const done = (ask: RpcRequest, answer: RpcReply) => {
    const text = textOf(answer)
    underWay.delete(ask.id)
    if (!REPEATABLE.has(PROMISES[ask.command])) replies.set(ask.id, text)
    reply(ask.front, text)
  }

  /** What is answered at once is answered in this turn of the event loop: with what it did, in one commit. */
  const handle = (ask: RpcRequest) => {
    const { id } = ask
    const failed = (error: unknown) => done(ask, { id, error: encodeError(error) })
    try {
      const answer = handled(leader, ask)
      if (answer instanceof Promise)
        answer.then((value: unknown) => {
          if (ask.command === 'reportServer') watch(ask.front, ask.input as ReportInput, value as ServerOrders)
          done(ask, { id, answer: value })
        }, failed)
      else done(ask, { id, answer })
    } catch (error) {
      failed(error)
    }
  }

  /** A leader before may have done it. */
  const handleUnlessAnswered = async (ask: RpcRequest): Promise<void> => {
    try {
      const before = await answered(ask.front, beginningOf(ask.id))
      if (before === undefined) return handle(ask)
      underWay.delete(ask.id)
      replies.set(ask.id, before)
      reply(ask.front, before)
    } catch (error) {
      // The follower retries the RPC request.
      underWay.delete(ask.id)
      problem(error)
    }
  }

  return {
    take: (text: string): void => {
      const ask = decodeRequest(text)
      if (ask === undefined || underWay.has(ask.id)) return
      const known = replies.get(ask.id)
      if (known !== undefined) return reply(ask.front, known)
      underWay.add(ask.id)
      if (ask.again && isKept(ask.command)) void handleUnlessAnswered(ask)
      else handle(ask)
    },
  }
}

const isKept = (command: Command): boolean => Object.hasOwn(PROMISES, command) && PROMISES[command] === 'kept'
