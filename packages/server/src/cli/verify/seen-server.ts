import type { Container } from '@muster/emulator'
import { z } from 'zod'
import type { GameClient } from './bot.js'
import { until } from './until.js'

/** A match in a report of a server: docs/servers.md, What a server reports. */
interface ReportedMatch {
  readonly id: string
  readonly status: string
  readonly players?: Readonly<Record<string, string>> | undefined
  readonly seats?: { readonly open?: boolean | undefined } | undefined
}

interface Report {
  readonly draining?: boolean | undefined
  readonly matches?: readonly ReportedMatch[] | undefined
}

/** What the server is to do in place of its players: docs/game-server.md, Verify it. */
export type Wish =
  | { readonly do: 'admit'; readonly token: string }
  | { readonly do: 'leave'; readonly player: string; readonly mayReturnMs: number }
  | { readonly do: 'over'; readonly match: string }

const wishAnswer = z.object({
  id: z.number(),
  ok: z.boolean(),
  player: z.string().nullish(),
  why: z.string().nullish(),
  by: z.string().nullish(),
})
export type WishAnswer = z.infer<typeof wishAnswer>

const WANTED = 'must be JSON of the form {"id": number, "ok": boolean}: docs/game-server.md, Verify it'

/** Milliseconds for which a request for a wish waits. */
const WAIT_MS = 5000
const SHOWN_LINES = 5

/** A process of the command, and what was seen of it so far. */
export class SeenServer {
  /** Its MUSTER_SERVER_TOKEN. */
  readonly token: string
  /** Undefined until it has registered. */
  registered: { readonly id: string; readonly key: string } | undefined
  /** Registrations that were taken. */
  registrations = 0
  /** The last report that was taken. */
  report: Report = {}
  /** Ids of the matches that it was told to serve. */
  orders: readonly string[] = []
  /** What was refused first, in words. */
  refusal: string | undefined
  /** Whether it has asked for a wish. */
  hasAsked = false
  /** Whether it was told to drain. */
  isToldToDrain = false
  /** Its exit code; undefined while it runs. */
  exitCode: number | undefined
  /** Answers that the library gave in the game's place. */
  answersOfLibrary = 0
  /** Connects a client of the game with a join token; undefined: the server is asked to do what players would. */
  readonly #connect: ((token: string) => Promise<GameClient>) | undefined
  /** Clients of the game that were let in, by player. */
  readonly #bots = new Map<string, GameClient>()
  #container: Container | undefined
  readonly #wishes: (Wish & { readonly id: number })[] = []
  readonly #answers = new Map<number, WishAnswer>()
  #count = 0
  #requests = 0
  #heard = 0

  constructor(token: string, connect?: (token: string) => Promise<GameClient>) {
    this.token = token
    this.#connect = connect
  }

  watch(container: Container): void {
    this.#container = container
    void container.exited.then((code) => (this.exitCode = code))
  }

  /** Its last lines. */
  output(): string {
    const lines = this.#container?.logs().trimEnd().split('\n') ?? []
    return lines.slice(-SHOWN_LINES).join('\n')
  }

  /** SIGTERM, and SIGKILL after `graceMs` milliseconds. */
  stop(graceMs: number): void {
    this.#container?.stop(graceMs)
  }

  match(id: string): ReportedMatch | undefined {
    return this.report.matches?.find((one) => one.id === id)
  }

  /** Undefined if no answer came in time. */
  async wish(wish: Wish, withinMs = 8000): Promise<WishAnswer | undefined> {
    if (this.#connect !== undefined) return this.#asClient(wish, this.#connect, withinMs)
    const id = (this.#count += 1)
    this.#wishes.push({ ...wish, id })
    await until(() => this.#answers.has(id) || this.exitCode !== undefined, withinMs)
    return this.#answers.get(id)
  }

  /** What players do, by clients of the game. Nobody can end the match but the game. */
  async #asClient(
    wish: Wish,
    connect: (token: string) => Promise<GameClient>,
    withinMs: number,
  ): Promise<WishAnswer | undefined> {
    const id = (this.#count += 1)
    if (wish.do === 'leave') await this.#bots.get(wish.player)?.end()
    if (wish.do !== 'admit') return { id, ok: true }
    const bot = await connect(wish.token)
    const isIn = await bot.isIn(withinMs)
    if (isIn === true) {
      // Their earlier client is replaced by this one.
      const player = playerOf(wish.token)
      await this.#bots.get(player)?.end()
      this.#bots.set(player, bot)
      return { id, ok: true, player }
    }
    await bot.end()
    return isIn === undefined ? undefined : { id, ok: false, why: bot.said }
  }

  /** Ends the clients of the game. */
  async endBots(): Promise<void> {
    await Promise.all(Array.from(this.#bots.values(), (bot) => bot.end()))
  }

  /** Answers a request of MUSTER_VERIFY_URL. */
  async verify(request: Request): Promise<Response> {
    this.hasAsked = true
    if (request.method === 'POST') {
      const { data: answer } = wishAnswer.safeParse(await request.json().catch(() => undefined))
      if (answer === undefined) return new Response(WANTED, { status: 400 })
      if (answer.by === 'library') this.answersOfLibrary += 1
      this.#answers.set(answer.id, answer)
      return new Response(null, { status: 204 })
    }
    await until(() => this.#wishes.length > 0 || request.signal.aborted, WAIT_MS)
    const wish = request.signal.aborted ? undefined : this.#wishes.shift()
    return wish === undefined ? new Response(null, { status: 204 }) : Response.json(wish)
  }

  /** A request comes. Returns its number, for `hear`. */
  comes(): number {
    return (this.#requests += 1)
  }

  /** What the server has said, and was told. An answer to an older report than the last one is forgotten. */
  async hear(number: number, path: string, said: string, answer: Response): Promise<void> {
    const body = (await answer.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
    if (answer.status === 400 || answer.status === 413)
      this.refusal ??= `${answer.status}: ${String(body['detail'] ?? body['message'])}`
    if (!answer.ok || number < this.#heard) return
    this.#heard = number
    this.orders = (body['matches'] as readonly { readonly id: string }[]).map(({ id }) => id)
    if (body['want'] === 'drain') this.isToldToDrain = true
    if (path !== '/servers') {
      this.report = JSON.parse(said) as Report
      return
    }
    this.registrations += 1
    this.registered ??= { id: String(body['id']), key: String(body['key']) }
  }
}

/** Who a token is of. */
const playerOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { readonly sub: string }).sub
