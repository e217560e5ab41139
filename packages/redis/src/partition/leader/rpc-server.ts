import { MusterError } from '@muster/core'
import { LEADER_COMMANDS, type Leader } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import {
  type RpcRequest,
  beginningOf,
  type RpcCommand,
  decodeRequest,
  encodeNotice,
  encode,
  encodeError,
  type PackedPresence,
  type RpcReply,
  serverIn,
  unpackPresence,
} from '../rpc.js'

type ServerOrders = Awaited<ReturnType<Leader['reportServer']>>
type ReportInput = Parameters<Leader['reportServer']>

export interface RpcServerOptions {
  readonly leader: Leader
  /**
   * Replies to a follower, together with everything the leader has decided before, because a reply must not come before
   * its effects.
   */
  readonly reply: (follower: string, text: string) => void
  /** Returns the stored reply to a follower, by this or an earlier leader, that begins with a string. */
  readonly answered: (follower: string, begins: string) => Promise<string | undefined>
  readonly problem: (error: unknown) => void
}

/** Kinds of commands that are executed again whenever a request is repeated. */
const REPEATABLE: ReadonlySet<string> = new Set(['current', 'level'])
/** Remembered replies, so that a repeated request is not executed again: maximum number, and maximum total length. */
const REMEMBERED = 10_000
const REMEMBERED_LENGTH = 16 * 1024 * 1024
/**
 * Milliseconds for which a follower is notified of changed orders after a report: longer than a report waits, which is
 * at most 20 s. A watched server does not count as silent, so it is less than `LOST_AFTER_MS`.
 */
const WATCH_MS = 22_000
/** Maximum length of one reply (our choice), because Redis keeps replies for some time. */
const LONGEST = 16 * 1024 * 1024

function handled(leader: Leader, { command, input }: RpcRequest): unknown {
  // A follower of another version may send unknown commands.
  if (!Object.hasOwn(LEADER_COMMANDS, command))
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

/** Returns a reply as a string. One that is too long becomes an error. */
function textOf(reply: RpcReply): string {
  const text = encode(reply)
  if (text.length <= LONGEST) return text
  const error = new MusterError(`The answer of the leader is too long: ${text.length} characters, at most ${LONGEST}.`)
  return encode({ id: reply.id, error: encodeError(error) })
}

/**
 * Executes each RPC request of followers once. `REPEATABLE` ones are executed again whenever a follower repeats them.
 */
export function createRpcServer(options: RpcServerOptions) {
  const { leader, reply, answered, problem } = options
  /** Replies by the id of their request, for commands that must not be repeated. */
  const replies = new LRUCache<string, string>({
    maxSize: REMEMBERED_LENGTH,
    // This minimum size allows at most `REMEMBERED` replies. With `max`, the cache would allocate memory for all of
    // them at once.
    sizeCalculation: (text) => Math.max(text.length, Math.ceil(REMEMBERED_LENGTH / REMEMBERED)),
  })
  /** Ids of RPC requests that are being executed. */
  const underWay = new Set<string>()

  /** Notifies the follower when the server's orders change, until the server reports again. */
  const watch = (follower: string, [token, { instance }]: ReportInput, { version }: ServerOrders) => {
    leader.waitForServerOrders(token, { instance, version, waitMs: WATCH_MS }).then(
      (now) => {
        if (now.version !== version) reply(follower, encodeNotice({ server: serverIn(token), version: now.version }))
      },
      // The server is gone, or this process no longer leads. The server learns of it with its next report.
      () => {},
    )
  }

  const done = (ask: RpcRequest, answer: RpcReply) => {
    const text = textOf(answer)
    underWay.delete(ask.id)
    if (!REPEATABLE.has(LEADER_COMMANDS[ask.command])) replies.set(ask.id, text)
    reply(ask.front, text)
  }

  /**
   * Executes a request. A synchronous command is answered in this turn, so that one commit has its effects and the
   * reply.
   */
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

  /** Executes a request, or sends the stored reply if an earlier leader has executed it. */
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

const isKept = (command: RpcCommand): boolean =>
  Object.hasOwn(LEADER_COMMANDS, command) && LEADER_COMMANDS[command] === 'kept'
