import { MusterError } from '@muster/core'
import type { Leader } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import {
  type Ask,
  beginningOf,
  type Command,
  decodeAsk,
  encode,
  encodeError,
  type PackedPresence,
  PROMISES,
  type Reply,
  unpackPresence,
} from '../rpc.js'

/** Answers the questions of fronts, each once. */
export interface Answering {
  take(text: string): void
}

export interface AnsweringOptions {
  readonly leader: Leader
  /** Resolves when all that the leader has decided is written: an answer must not come before what it tells. */
  readonly flushed: () => Promise<void>
  /** Answers a front, with all that the leader has decided before, or after it. */
  readonly keep: (front: string, text: string) => void
  /** The reply to a front that begins so, if this leader or one before has kept one. */
  readonly answered: (front: string, begins: string) => Promise<string | undefined>
  /** Sends replies to a front, in order. */
  readonly send: (front: string, texts: readonly string[]) => Promise<void>
  readonly problem: (error: unknown) => void
}

/** Answers that are remembered, so that a repeated question is not done again: how many, and their length in all. */
const REMEMBERED = 10_000
const REMEMBERED_LENGTH = 16 * 1024 * 1024
/** Length of one answer at most (our choice): Redis keeps it for a while. */
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
function textOf(reply: Reply): string {
  const text = encode(reply)
  if (text.length <= LONGEST) return text
  const error = new MusterError(`The answer of the leader is too long: ${text.length} characters, at most ${LONGEST}.`)
  return encode({ id: reply.id, error: encodeError(error) })
}

export function createAnswering(options: AnsweringOptions): Answering {
  const { leader, flushed, send, keep, answered, problem } = options
  /** Replies by the id of their question: of what must not be done again. */
  const replies = new LRUCache<string, string>({
    max: REMEMBERED,
    maxSize: REMEMBERED_LENGTH,
    sizeCalculation: (text) => text.length,
  })
  /** Ids of questions that are being answered. */
  const underWay = new Set<string>()
  /** Replies that are not sent yet, by front. */
  const outgoing = new Map<string, string[]>()
  let isSending = false

  const sendAll = async (): Promise<void> => {
    try {
      while (outgoing.size > 0) {
        const batches = [...outgoing]
        outgoing.clear()
        // Each time: these may tell of what was decided since.
        await flushed()
        await Promise.all(batches.map(([front, texts]) => send(front, texts)))
      }
    } catch (error) {
      // The front asks again.
      problem(error)
    }
    isSending = false
  }

  const reply = ({ front, command }: Ask, text: string) => {
    if (isKept(command)) return keep(front, text)
    const texts = outgoing.get(front)
    if (texts === undefined) outgoing.set(front, [text])
    else texts.push(text)
    if (isSending) return
    isSending = true
    queueMicrotask(() => void sendAll())
  }

  const handled = ({ command, input }: Ask): unknown => {
    // A front of another version may know more.
    if (!Object.hasOwn(HANDLERS, command))
      throw new Error('The leader does not know this command. Run the same version in all processes.')
    return HANDLERS[command](leader, input as readonly never[])
  }

  const done = (ask: Ask, answer: Reply) => {
    const text = textOf(answer)
    underWay.delete(ask.id)
    if (PROMISES[ask.command] !== 'read') replies.set(ask.id, text)
    reply(ask, text)
  }

  /** What is answered at once is answered in this turn of the event loop: with what it did, in one commit. */
  const handle = (ask: Ask) => {
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
  const handleUnlessAnswered = async (ask: Ask): Promise<void> => {
    try {
      const before = await answered(ask.front, beginningOf(ask.id))
      if (before === undefined) return handle(ask)
      underWay.delete(ask.id)
      replies.set(ask.id, before)
      reply(ask, before)
    } catch (error) {
      // The front asks again.
      underWay.delete(ask.id)
      problem(error)
    }
  }

  return {
    take: (text) => {
      const ask = decodeAsk(text)
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
