import { MusterError } from '@muster/core'
import type { Leader } from '@muster/matchmaker/partition'
import { LRUCache } from 'lru-cache'
import { decodeAsk, encode, type Ask, type Command, type Reply } from '../asks.js'
import { encodeError } from '../remote-errors.js'
import { unpackSighting, type PackedSighting } from '../sightings.js'

/** Answers the questions of fronts, each once. */
export interface Answering {
  take(text: string): void
}

export interface AnsweringOptions {
  readonly leader: Leader
  /** Resolves when all that the leader has decided is written: an answer must not come before what it tells. */
  readonly flushed: () => Promise<void>
  /** Sends replies to a front, in order. */
  readonly send: (front: string, texts: readonly string[]) => Promise<void>
  readonly problem: (error: unknown) => void
}

/** Answers that are remembered, so that a repeated question is not done again: how many, and their length in all. */
const REMEMBERED = 10_000
const REMEMBERED_LENGTH = 16 * 1024 * 1024
/** Of these a repeated question is simply answered again: they change nothing, or the same. Some answers are long. */
const READS: ReadonlySet<Command> = new Set([
  'cooldownsOf',
  'explain',
  'getBackfill',
  'inspect',
  'isServerSecret',
  'learnedWaits',
  'longestWaiting',
  'notePresence',
])
/** Length of one answer at most (our choice): Redis keeps it for a while. */
const LONGEST = 16 * 1024 * 1024

type Packed = readonly PackedSighting[]
type Handler = (leader: Leader, input: readonly never[]) => unknown

const HANDLERS: Readonly<Record<Command, Handler>> = {
  acceptMatch: (leader, [ticketId, playerId]) => leader.acceptMatch(ticketId as never, playerId),
  declineMatch: (leader, [ticketId, playerId]) => leader.declineMatch(ticketId as never, playerId),
  explain: (leader, [ticketId]) => leader.explain(ticketId as never),
  playersLeft: (leader, [matchId, playerIds]) => leader.playersLeft(matchId as never, playerIds as never),
  stopMatch: (leader, [matchId, options]) => leader.stopMatch(matchId as never, options),
  serverReady: (leader, [matchId, secret]) => leader.serverReady(matchId as never, secret as never),
  isServerSecret: (leader, [secret]) => leader.isServerSecret(secret as never),
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
  notePresence: (leader, [packed]) => leader.notePresence((packed as unknown as Packed).map(unpackSighting)),
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
  const error = new MusterError(`the answer of the leader is too long: ${text.length} characters, at most ${LONGEST}`)
  return encode({ id: reply.id, error: encodeError(error) })
}

export function createAnswering({ leader, flushed, send, problem }: AnsweringOptions): Answering {
  /** Replies by the id of their question. */
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

  const reply = (front: string, text: string) => {
    const texts = outgoing.get(front)
    if (texts === undefined) outgoing.set(front, [text])
    else texts.push(text)
    if (isSending) return
    isSending = true
    queueMicrotask(() => void sendAll())
  }

  const answered = async ({ id, command, input }: Ask): Promise<Reply> => {
    try {
      // A front of another version may know more.
      if (!Object.hasOwn(HANDLERS, command)) throw new Error('the leader does not know this command')
      const handler = HANDLERS[command]
      return { id, answer: await handler(leader, input as readonly never[]) }
    } catch (error) {
      return { id, error: encodeError(error) }
    }
  }

  return {
    take: (text) => {
      const ask = decodeAsk(text)
      if (ask === undefined) return
      if (underWay.has(ask.id)) return
      const known = replies.get(ask.id)
      if (known !== undefined) return reply(ask.front, known)
      underWay.add(ask.id)
      void answered(ask).then((answer) => {
        const answerText = textOf(answer)
        underWay.delete(ask.id)
        if (!READS.has(ask.command)) replies.set(ask.id, answerText)
        reply(ask.front, answerText)
      })
    },
  }
}
