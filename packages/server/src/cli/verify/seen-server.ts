import type { Container } from '@muster/emulator'
import { z } from 'zod'
import type { GameClient } from './bot.js'
import { until } from './until.js'

/** A match in a server's report: see docs/servers.md, What a server reports. */
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

/** A command that the server executes in place of its players: see docs/game-server.md, Verify it. */
export type VerifyCommand =
  | { readonly do: 'admit'; readonly token: string }
  | { readonly do: 'leave'; readonly player: string; readonly mayReturnMs: number }
  | { readonly do: 'over'; readonly match: string }

const commandAnswer = z.object({
  id: z.number(),
  ok: z.boolean(),
  player: z.string().nullish(),
  why: z.string().nullish(),
  by: z.string().nullish(),
})
export type CommandAnswer = z.infer<typeof commandAnswer>

const WANTED = 'must be JSON of the form {"id": number, "ok": boolean}: docs/game-server.md, Verify it'

/** Maximum milliseconds for which a server's request for a command is held open. */
const WAIT_MS = 5000
/** Maximum milliseconds until the answer to a command. */
const ANSWER_MS = 8000
const SHOWN_LINES = 5

/** A process of the tested server, and what was observed of it so far. */
export class SeenServer {
  /** The process's MUSTER_SERVER_TOKEN. */
  readonly token: string
  /** The answer to the server's registration; undefined before. */
  registered: { readonly id: string; readonly key: string } | undefined
  /** Number of accepted registrations. */
  registrations = 0
  /** The last accepted report. */
  report: Report = {}
  /** Ids of the matches that Muster ordered this server to serve. */
  orders: readonly string[] = []
  /** The reason of the first report that Muster refused, in words. */
  refusal: string | undefined
  /** True once the server has requested a command. */
  hasAsked = false
  /** True once Muster has ordered the server to drain. */
  isToldToDrain = false
  /** The exit code of the process; undefined while it runs. */
  exitCode: number | undefined
  /** Number of commands that the server library answered in place of the game. */
  answersOfLibrary = 0
  /** Connects a client of the game with a join token. Undefined if the server itself executes the players' commands. */
  readonly #connect: ((token: string) => Promise<GameClient>) | undefined
  /** Clients of the game that were let in, by player. */
  readonly #bots = new Map<string, GameClient>()
  #container: Container | undefined
  readonly #pendingCommands: (VerifyCommand & { readonly id: number })[] = []
  readonly #answers = new Map<number, CommandAnswer>()
  #count = 0
  #requests = 0
  #lastResult = 0

  constructor(token: string, connect?: (token: string) => Promise<GameClient>) {
    this.token = token
    this.#connect = connect
  }

  watch(container: Container): void {
    this.#container = container
    void container.exited.then((code) => (this.exitCode = code))
  }

  /** Returns the last lines of the process's output. */
  output(): string {
    const lines = this.#container?.logs().trimEnd().split('\n') ?? []
    return lines.slice(-SHOWN_LINES).join('\n')
  }

  /** Sends SIGTERM, and SIGKILL after `graceMs` milliseconds. */
  stop(graceMs: number): void {
    this.#container?.stop(graceMs)
  }

  match(id: string): ReportedMatch | undefined {
    return this.report.matches?.find((one) => one.id === id)
  }

  /** Sends a command. Resolves with undefined if no answer arrives within 8 s. */
  async send(command: VerifyCommand): Promise<CommandAnswer | undefined> {
    if (this.#connect !== undefined) return this.#asClient(command, this.#connect)
    const id = (this.#count += 1)
    this.#pendingCommands.push({ ...command, id })
    await until(() => this.#answers.has(id) || this.exitCode !== undefined, ANSWER_MS)
    return this.#answers.get(id)
  }

  /** Executes commands through clients of the game. A client cannot end the match: only the game can. */
  async #asClient(
    command: VerifyCommand,
    connect: (token: string) => Promise<GameClient>,
  ): Promise<CommandAnswer | undefined> {
    const id = (this.#count += 1)
    if (command.do === 'leave') await this.#bots.get(command.player)?.end()
    if (command.do !== 'admit') return { id, ok: true }
    const bot = await connect(command.token)
    const isIn = await bot.isIn(ANSWER_MS)
    if (isIn === true) {
      // The new client replaces the player's earlier one, which is ended first.
      const player = claimsIn(command.token).sub
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

  /** Answers a request to MUSTER_VERIFY_URL. */
  async verify(request: Request): Promise<Response> {
    this.hasAsked = true
    if (request.method === 'POST') {
      const { data: answer } = commandAnswer.safeParse(await request.json().catch(() => undefined))
      if (answer === undefined) return new Response(WANTED, { status: 400 })
      if (answer.by === 'library') this.answersOfLibrary += 1
      this.#answers.set(answer.id, answer)
      return new Response(null, { status: 204 })
    }
    await until(() => this.#pendingCommands.length > 0 || request.signal.aborted, WAIT_MS)
    const command = request.signal.aborted ? undefined : this.#pendingCommands.shift()
    return command === undefined ? new Response(null, { status: 204 }) : Response.json(command)
  }

  /** Returns the number of the next request, for `recordReport`. */
  nextRequest(): number {
    return (this.#requests += 1)
  }

  /**
   * Records a server's report and the orders in its answer. Ignores the answer to a report that is older than the last
   * one.
   */
  async recordReport(number: number, path: string, said: string, answer: Response): Promise<void> {
    const body = (await answer.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
    if (answer.status === 400 || answer.status === 413)
      this.refusal ??= `${answer.status}: ${String(body['detail'] ?? body['message'])}`
    if (!answer.ok || number < this.#lastResult) return
    this.#lastResult = number
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

export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** Returns the claims of a join token, unverified. */
export const claimsIn = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
