import { systemClock } from '@muster/core/clock'
import type { Container } from '@muster/emulator'
import { z } from 'zod'

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
  #container: Container | undefined
  readonly #wishes: (Wish & { readonly id: number })[] = []
  readonly #answers = new Map<number, WishAnswer>()
  #count = 0
  #requests = 0
  #heard = 0

  constructor(token: string) {
    this.token = token
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
    const id = (this.#count += 1)
    this.#wishes.push({ ...wish, id })
    await until(() => this.#answers.has(id) || this.exitCode !== undefined, withinMs)
    return this.#answers.get(id)
  }

  /** Answers a request of MUSTER_VERIFY_URL. */
  async verify(request: Request): Promise<Response> {
    this.hasAsked = true
    if (request.method === 'POST') {
      const { data: answer } = wishAnswer.safeParse(await request.json().catch(() => undefined))
      if (answer === undefined) return new Response(WANTED, { status: 400 })
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

const LOOK_MS = 20

/** Whether something becomes so within so many milliseconds. */
export async function until(holds: () => unknown, withinMs: number): Promise<boolean> {
  const end = systemClock.now() + withinMs
  while (!holds()) {
    if (systemClock.now() >= end) return false
    await systemClock.sleep(LOOK_MS)
  }
  return true
}
