import { MusterError } from '@muster/core'
import type { Leader } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import {
  type RpcRequest,
  beginningOf,
  type Command,
  decodeRequest,
  encode,
  encodeError,
  type PackedPresence,
  PROMISES,
  type RpcReply,
  unpackPresence,
} from '../rpc.js'

/** Answers the RPC requests of followers, each once. */
export interface RpcServer {
  take(text: string): void
}

export interface RpcServerOptions {
  readonly leader: Leader
  /** Resolves when all that the leader has decided is written: an answer must not come before what it tells. */
  readonly flushed: () => Promise<void>
  /** Answers a follower, with all that the leader has decided before, or after it. */
  readonly keep: (follower: string, text: string) => void
  /** The reply to a follower that begins so, if this leader or one before has kept one. */
  readonly answered: (follower: string, begins: string) => Promise<string | undefined>
  /** Sends replies to a follower, in order. */
  readonly send: (follower: string, texts: readonly string[]) => Promise<void>
  readonly problem: (error: unknown) => void
}

/** Answers that are remembered, so that a repeated question is not done again: how many, and their length in all. */
const REMEMBERED = 10_000
const REMEMBERED_LENGTH = 16 * 1024 * 1024
/** Most characters of one answer (our choice): Redis keeps answers for some time. */
const LONGEST = 16 * 1024 * 1024

type Packed = readonly PackedPresence[]
type Handler = (leader: Leader, input: readonly never[]) => unknown

const HANDLERS: Readonly<Record<Command, Handler>> = {
  acceptMatch: (leader, [ticketId, playerId]) => leader.acceptMatch(ticketId as never, playerId),
  declineMatch: (leader, [ticketId, playerId]) => leader.declineMatch(ticketId as never, playerId),
  explain: (leader, [ticketId]) => leader.explain(ticketId as never),
  playersLeft: (leader, [matchId, playerIds]) => leader.playersLeft(matchId as never, playerIds as never),
  stopMatch: (leader, [matchId, options]) => leader.stopMatch(matchId as never, options),
  serverReady: (leader, [matchId, secret]) => leader.serverReady(matchId as never, secret as never),
  playerCame: (leader, [matchId, secret, playerId]) =>
    leader.playerCame(matchId as never, secret as never, playerId as never),
  isServerSecret: (leader, [secret]) => leader.isServerSecret(secret as never),
  isSecretOf: (leader, [matchId, secret]) => leader.isSecretOf(matchId as never, secret as never),
  createBackfill: (leader, [input]) => leader.createBackfill(input as never),
  getBackfill: (leader, [id]) => leader.getBackfill(id as never),
  updateBackfill: (leader, [id, change]) => leader.updateBackfill(id as never, change as never),
  cancelBackfill: (leader, [id]) => leader.cancelBackfill(id as never),
  inspect: (leader) => leader.inspect(),
  learnedWaits: (leader) => leader.learnedWaits(),
  longestWaiting: (leader, [limit]) => leader.longestWaiting(limit as never),
  cooldownsOf: (leader, [playerId]) => leader.cooldownsOf(playerId as never),
  forgive: (leader, [playerId]) => leader.forgive(playerId as never),
  pauseQueue: (leader, [queue]) => leader.pauseQueue(queue as never),
  resumeQueue: (leader, [queue]) => leader.resumeQueue(queue as never),
  notePresence: (leader, [packed]) => leader.notePresence((packed as unknown as Packed).map(unpackPresence)),
  hint: (leader, [requestId]) => leader.hint(requestId as never),
  webhook: async (leader, [path, body]) => {
    const url = new URL(String(path), 'http://webhook.invalid')
    return (await leader.webhook(new Request(url, { method: 'POST', body: String(body) }))).status
  },
}

/** A reply as text. One that is too long becomes an error. */
function textOf(reply: RpcReply): string {
  const text = encode(reply)
  if (text.length <= LONGEST) return text
  const error = new MusterError(`The answer of the leader is too long: ${text.length} characters, at most ${LONGEST}.`)
  return encode({ id: reply.id, error: encodeError(error) })
}

export function createRpcServer(options: RpcServerOptions): RpcServer {
  const { leader, flushed, send, keep, answered, problem } = options
  /** Replies by the id of their question: of what must not be done again. */
  const replies = new LRUCache<string, string>({
    max: REMEMBERED,
    maxSize: REMEMBERED_LENGTH,
    sizeCalculation: (text) => text.length,
  })
  /** Ids of RPC requests that are being answered. */
  const underWay = new Set<string>()
  /** Replies that are not sent yet, by follower. */
  const outgoing = new Map<string, string[]>()
  let isSending = false

  const sendAll = async (): Promise<void> => {
    try {
      while (outgoing.size > 0) {
        const batches = [...outgoing]
        outgoing.clear()
        // Each time: these may tell of what was decided since.
        await flushed()
        await Promise.all(batches.map(([follower, texts]) => send(follower, texts)))
      }
    } catch (error) {
      // The follower retries the RPC request.
      problem(error)
    }
    isSending = false
  }

  const reply = ({ front: follower, command }: RpcRequest, text: string) => {
    if (isKept(command)) return keep(follower, text)
    const texts = outgoing.get(follower)
    if (texts === undefined) outgoing.set(follower, [text])
    else texts.push(text)
    if (isSending) return
    isSending = true
    queueMicrotask(() => void sendAll())
  }

  const handled = ({ command, input }: RpcRequest): unknown => {
    // A follower of another version may know more.
    if (!Object.hasOwn(HANDLERS, command))
      throw new Error('The leader does not know this command. Run the same version in all processes.')
    return HANDLERS[command](leader, input as readonly never[])
  }

  const done = (ask: RpcRequest, answer: RpcReply) => {
    const text = textOf(answer)
    underWay.delete(ask.id)
    if (PROMISES[ask.command] !== 'read') replies.set(ask.id, text)
    reply(ask, text)
  }

  /** What is answered at once is answered in this turn of the event loop: with what it did, in one commit. */
  const handle = (ask: RpcRequest) => {
    const { id } = ask
    const failed = (error: unknown) => done(ask, { id, error: encodeError(error) })
    try {
      const answer = handled(ask)
      if (answer instanceof Promise) answer.then((value: unknown) => done(ask, { id, answer: value }), failed)
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
      reply(ask, before)
    } catch (error) {
      // The follower retries the RPC request.
      underWay.delete(ask.id)
      problem(error)
    }
  }

  return {
    take: (text) => {
      const ask = decodeRequest(text)
      if (ask === undefined) return
      if (underWay.has(ask.id)) return
      const known = replies.get(ask.id)
      if (known !== undefined) return reply(ask, known)
      underWay.add(ask.id)
      if (ask.again && isKept(ask.command)) void handleUnlessAnswered(ask)
      else handle(ask)
    },
  }
}

const isKept = (command: Command): boolean => Object.hasOwn(PROMISES, command) && PROMISES[command] === 'kept'
