import type { Coordinates } from '@muster/core'
import { backoffMs } from '@muster/core/internal'
import { foundMatch, MatchTooLarge, serverEnvironment } from '../environment/server-environment.js'
import { TicketsGone } from '../errors.js'
import { type HostingEntry, WRITTEN } from '../store/index.js'
import {
  matchIntent,
  matchTag,
  type Order,
  resumptionOfServer,
  type ReturnReason,
  type Server,
  serverIntent,
} from '../records/index.js'
import type { AllocatorContext } from './allocator-context.js'
import { elsewhereOf, firstAttempt, nextAttempt } from './retry-placement.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.js'
import type { SpendingLimiter } from './spending-limiter.js'
import type { CreateOutcome, ServerSource, OpenedSource } from '../sources/index.js'

interface ServerCreationOptions extends AllocatorContext {
  readonly spendingLimiter: SpendingLimiter
  readonly lifecycle: Pick<ServerLifecycle, 'fail' | 'end' | 'lose' | 'exists' | 'retry'>
  readonly maxCreatesInFlight: number
  readonly apiUrl: string | undefined
  /** Returns true if players were promised this server. A failure before it is created is then retried. */
  readonly isPromised: (server: Server) => boolean
}

/** The first attempt, with or without cached locations only. All matches share one object. */
const FIRST = [firstAttempt(false)]
const FIRST_CACHED = [firstAttempt(true)]
/**
 * Maximum number of milliseconds for which a create is delayed (our choice). By then a restart is over and a list has
 * arrived, and searching players see that nothing can be created.
 */
const HELD_BACK_MS = 10_000
/** Minimum number of milliseconds until a rejected create is sent again. */
const REPEAT_MS = 1000
/** Waits between two attempts of a match. */
const RETRY = { baseMs: 250, capMs: 2000, jitter: 0.5 }

/** When an attempt is due, in epoch milliseconds. */
interface Due {
  readonly at: number
  /** Epoch milliseconds at which a delayed create is given up. Undefined if the source did not delay it. */
  readonly heldUntil?: number
}

/**
 * Sends the creates of servers, each after the store holds its intent. Without capacity, repeats the create at other
 * locations, up to `MOST_TRIES` in all. A create that the source must not get now waits until the source takes it.
 */
export class ServerCreation {
  readonly #options: ServerCreationOptions
  readonly #spendingLimiter: SpendingLimiter
  readonly #lifecycle: ServerCreationOptions['lifecycle']
  readonly #limit: ConcurrencyLimit<Server>
  /** Servers that wait for another attempt. */
  readonly #waiting = new Map<Server, Due>()

  constructor(options: ServerCreationOptions) {
    this.#options = options
    this.#spendingLimiter = options.spendingLimiter
    this.#lifecycle = options.lifecycle
    this.#limit = createConcurrencyLimit(options.maxCreatesInFlight, (server) => this.#send(server))
  }

  /**
   * Begins the first attempt. Resolves once the store holds the intent. Reports the outcome to `AllocatorListener`.
   * @param claims entries that bind matches to the server, written with the intent
   */
  begin(server: Server, claims?: readonly HostingEntry[]): Promise<void> {
    server.tries = server.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
    this.#options.fleet.add(server)
    this.#plan(server)
    return this.#writeDown(server, () => this.#ask(server), claims)
  }

  /** Sends the create of a server whose intent an earlier process wrote, and which was never sent. */
  resume(server: Server): void {
    this.#plan(server)
    this.#ask(server)
  }

  /** Plans the next attempt. The server of the last one is gone. */
  async retry(server: Server): Promise<void> {
    const { fleet, clock, random } = this.#options
    const { order, id } = server
    const places = order === undefined ? undefined : await this.#placesFor(server, order)
    const next = nextAttempt(server.tries, elsewhereOf(server, places))
    if (next === undefined) return this.#giveUp(server, 'no-capacity', true)
    if (server.stopReason !== undefined) return this.#end(server)
    server.tries = [...server.tries, next]
    fleet.step(server, 'again')
    server.tag = matchTag(id, server.tries.length)
    await this.#writeDown(server, () => {
      const waitMs = backoffMs(server.tries.length - 1, random(), RETRY)
      this.#waiting.set(server, { at: clock.now() + waitMs })
    })
  }

  /** Ends a server whose create waits for its turn. Returns false if the create was sent or waits to be repeated. */
  forget(server: Server): boolean {
    const isWaiting = this.#limit.remove(server)
    if (isWaiting) this.#end(server)
    return isWaiting
  }

  /** Begins the attempts that are due. */
  advance(now: number): void {
    for (const [server, { at, heldUntil }] of this.#waiting) {
      const { breaker } = this.#sourceOf(server)
      const hasRoom = heldUntil === undefined || breaker.room(this.#othersOf(server), now) > 0
      const isDue = hasRoom && Math.max(at, breaker.pausedUntil()) <= now && this.#spendingLimiter.mayCreate(now)
      const isOver = heldUntil !== undefined && now >= heldUntil
      if (server.stopReason === undefined && !isDue && !isOver) continue
      this.#waiting.delete(server)
      if (server.stopReason === undefined && !isDue) {
        this.#giveUp(server, 'unavailable', false)
        continue
      }
      this.#plan(server)
      this.#ask(server)
    }
  }

  /** Sends no more creates. Stored intents stay. The next process takes them over. */
  sendNoMore(): void {
    this.#limit.stop()
  }

  /** Returns the number of creates in flight. */
  inFlight(): number {
    return this.#limit.underWay()
  }

  /** Returns the number of creates that wait for their turn. */
  waiting(): number {
    return this.#limit.waiting()
  }

  #sourceOf({ source }: Server): OpenedSource {
    return this.#options.sources.of(source)
  }

  #plan(server: Server): void {
    this.#spendingLimiter.planned(server)
    this.#sourceOf(server).breaker.planned(server, this.#options.clock.now())
  }

  /**
   * Resolves when the intent is stored and the attempt continues, or the write failed and the server has ended.
   * @param claims entries that bind matches to the server, written with the intent
   */
  #writeDown(server: Server, goOn: () => void, claims: readonly HostingEntry[] = []): Promise<void> {
    const { writer } = this.#options
    const intents = () => [
      ...server.bound.map((match) => matchIntent(match, writer.resumes)),
      serverIntent(server, writer.resumes),
    ]
    const appended = writer.areKept ? writer.append(...intents(), ...claims) : undefined
    if (appended !== undefined) return appended.then(goOn, (error: unknown) => this.#unwritten(server, error))
    goOn()
    return WRITTEN
  }

  #ask(server: Server): void {
    if (server.stopReason === undefined) this.#limit.add(server)
    else this.#end(server)
  }

  async #send(server: Server): Promise<void> {
    const { order } = server
    if (order === undefined) return
    // The create was planned a while ago. Since then its source may have paused, or may allow no more servers.
    if (!this.#mayBeSent(server)) return this.#holdBack(server)
    // Nothing is awaited unnecessarily: the create should leave in the tick in which it was decided.
    if (order.placements !== undefined && server.placements === undefined) {
      const placements = order.placements()
      server.placements = placements instanceof Promise ? await placements : placements
      if (server.stopReason !== undefined) return this.#end(server)
      server.tries = [firstAttempt(order.deploy.requireCachedLocations, server.placements)]
    }
    let request: ReturnType<ServerSource['prepare']>
    try {
      // The request is built only when its turn comes, because it is large and many may wait.
      request = this.#requestFor(server, order)
    } catch (error) {
      this.#options.on.problem('create', error, server)
      return this.#giveUp(server, 'refused', error instanceof MatchTooLarge ? error.ticketIds : false)
    }
    const noted = this.#noteSent(server)
    if (noted !== undefined) {
      try {
        await noted
      } catch (error) {
        return this.#notNoted(server, error)
      }
      if (server.stopReason !== undefined) return this.#end(server)
    }
    // The placements and the write took time, and another response may have arrived.
    if (!this.#mayBeSent(server)) return this.#takeBack(server)
    const sentAt = this.#options.clock.now()
    this.#spendingLimiter.sent(server, sentAt)
    // The client may queue the request. It is not sent if another response forbids it meanwhile.
    const outcome = await request(() => this.#mayBeSent(server))
    if (outcome.kind === 'unavailable' && !this.#mayBeSent(server)) return this.#takeBack(server)
    this.#answered(server, outcome, sentAt)
  }

  /**
   * Builds the request of a server. Returns the function that sends it.
   * @throws {MatchTooLarge}, or {InvalidInput} if the source could not handle it
   */
  #requestFor(server: Server, order: Order): ReturnType<ServerSource['prepare']> {
    const { keys, apiUrl } = this.#options
    const current = server.tries.at(-1) ?? firstAttempt(order.deploy.requireCachedLocations)
    const id = server.credential
    const token = keys.tokenOf(id)
    const { deploy, near = order.tickets } = order
    const found = foundMatch(server, order, current.placement)
    return this.#sourceOf(server).prepare({
      id,
      deploy,
      environment: serverEnvironment({ found, deploy, token, pool: server.pool, apiUrl }),
      token,
      at: current.at,
      players: near.flatMap(({ players }) => players),
      cachedOnly: current.cachedOnly,
    })
  }

  /** After a crash, only creates that were sent must be looked for. */
  #noteSent(server: Server): Promise<void> | undefined {
    const { writer, clock } = this.#options
    const resumption = writer.resumes ? { resumption: resumptionOfServer(server) } : undefined
    return writer.append({ kind: 'sent', serverId: server.id, at: clock.now(), ...resumption })
  }

  /** @param sentAt epoch milliseconds. */
  #answered(server: Server, outcome: CreateOutcome, sentAt: number): void {
    const now = this.#options.clock.now()
    const { breaker } = this.#sourceOf(server)
    if (outcome.kind === 'created') {
      breaker.answered(now)
      return this.#lifecycle.exists(server, outcome.handle)
    }
    this.#options.on.problem('create', outcome.error, server)
    if (outcome.kind === 'lost' || outcome.kind === 'unavailable') breaker.failed(sentAt, now)
    else breaker.answered(now)
    switch (outcome.kind) {
      case 'lost':
        return this.#lifecycle.lose(server)
      case 'unavailable':
        if (this.#options.isPromised(server)) return this.#repeat(server)
        return this.#giveUp(server, 'unavailable', false)
      case 'refused':
        return this.#giveUp(server, 'refused', true)
      case 'no-capacity':
        return this.#foundNoCapacity(server, outcome.handle)
    }
  }

  /** @param handle handle of what was created anyway */
  #foundNoCapacity(server: Server, handle: string | undefined): void {
    if (handle !== undefined && server.stopReason === undefined && this.#mayBeElsewhere(server))
      return this.#lifecycle.retry(server, handle)
    this.#lifecycle.fail(server, 'no-capacity', true)
    if (handle === undefined) this.#lifecycle.lose(server)
    else this.#lifecycle.exists(server, handle)
  }

  /** True if there may be another location for the server. */
  #mayBeElsewhere(server: Server): boolean {
    const { capacity } = this.#sourceOf(server)
    return capacity !== undefined || nextAttempt(server.tries, elsewhereOf(server, undefined)) !== undefined
  }

  /** Returns where there is capacity; undefined if that is not known. */
  async #placesFor(server: Server, { deploy }: Order): Promise<readonly Coordinates[] | undefined> {
    try {
      return await this.#sourceOf(server).capacity?.(deploy)
    } catch (error) {
      this.#options.on.problem('list', error, server)
      return undefined
    }
  }

  /** Returns the number of servers of this server's source that exist or may exist, without this server. */
  #othersOf({ source }: Server): number {
    const { fleet, sources } = this.#options
    return fleet.countOf(source) + sources.of(source).orphans() - 1
  }

  #mayBeSent(server: Server): boolean {
    return this.#sourceOf(server).breaker.maySend(server, this.#othersOf(server))
  }

  /** Delays a create that must not be sent now. A server that players were promised is not given up. */
  #holdBack(server: Server): void {
    const at = this.#options.clock.now()
    this.#spendingLimiter.abandoned(server)
    this.#waiting.set(server, { at, heldUntil: this.#options.isPromised(server) ? Infinity : at + HELD_BACK_MS })
  }

  /** Repeats a create without a result, when its source may accept it. */
  #repeat(server: Server): void {
    this.#spendingLimiter.abandoned(server)
    this.#waiting.set(server, { at: this.#options.clock.now() + REPEAT_MS })
  }

  /** Records that a create was not sent after all, so that no later process looks for its server. */
  async #takeBack(server: Server): Promise<void> {
    const { writer } = this.#options
    try {
      await writer.append(serverIntent(server, writer.resumes))
    } catch (error) {
      return this.#notNoted(server, error)
    }
    if (server.stopReason === undefined) this.#holdBack(server)
    else this.#end(server)
  }

  /** Ends a server whose create could not be recorded as sent. A server that players were promised waits. */
  #notNoted(server: Server, error: unknown): void {
    if (!this.#options.isPromised(server)) return this.#unwritten(server, error)
    this.#storeFailed(server, error)
    this.#repeat(server)
  }

  #unwritten(server: Server, error: unknown): void {
    if (error instanceof TicketsGone) return this.#giveUp(server, 'dissolved', false)
    this.#storeFailed(server, error)
    this.#giveUp(server, 'unavailable', false)
  }

  #storeFailed(server: Server, error: unknown): void {
    const now = this.#options.clock.now()
    this.#options.on.problem('store', error, server)
    this.#sourceOf(server).breaker.failed(now, now)
  }

  /** Ends a server of which nothing was created. Its matches leave it. */
  #giveUp(server: Server, reason: ReturnReason, counts: boolean | readonly string[]): void {
    this.#lifecycle.fail(server, reason, counts)
    this.#end(server)
  }

  #end(server: Server): void {
    this.#spendingLimiter.abandoned(server)
    this.#lifecycle.end(server)
  }
}
