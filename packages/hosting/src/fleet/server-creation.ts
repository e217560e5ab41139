import type { Coordinates } from '@muster/core'
import { backoffMs, deepFreeze } from '@muster/core/internal'
import { foundMatch, MatchTooLarge, serverEnvironment } from '../environment/server-environment.js'
import { TicketsGone } from '../errors.js'
import { type HostingEntry, WRITTEN } from '../store/index.js'
import {
  matchIntent,
  serverTag,
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
  /** Returns true if players wait for this server. If its create is not accepted, the create is then repeated. */
  readonly isPromised: (server: Server) => boolean
}

/** The list of the first attempt, without or with `cachedOnly`. Servers share it to save memory. */
const FIRST = [firstAttempt(false)]
const FIRST_CACHED = [firstAttempt(true)]
/**
 * Maximum milliseconds for which a create waits for its source (our choice). Then its match fails, so that its players
 * see that no server can be created.
 */
const HELD_BACK_MS = 10_000
/** Milliseconds until a create that had no effect is repeated. */
const REPEAT_MS = 1000
const RETRY = { baseMs: 250, capMs: 2000, jitter: 0.5 }

/** When a waiting create is sent. */
interface Due {
  readonly at: number
  /** Epoch milliseconds at which a create that waits for its source is given up. Undefined for any other create. */
  readonly heldUntil?: number
}

/**
 * Sends the creates of servers, each once the store has the server's intent. If there is no capacity, further attempts
 * try other locations. A create that its source does not allow now waits.
 */
export class ServerCreation {
  readonly #options: ServerCreationOptions
  readonly #spendingLimiter: SpendingLimiter
  readonly #lifecycle: ServerCreationOptions['lifecycle']
  readonly #limit: ConcurrencyLimit<Server>
  /** Servers whose create waits for its time or its source. */
  readonly #waiting = new Map<Server, Due>()

  constructor(options: ServerCreationOptions) {
    this.#options = options
    this.#spendingLimiter = options.spendingLimiter
    this.#lifecycle = options.lifecycle
    this.#limit = createConcurrencyLimit(options.maxCreatesInFlight, (server) => this.#send(server))
  }

  /**
   * Begins the first attempt for a server. Resolves once the store has the server's intent. `AllocatorListener`
   * receives the outcome.
   * @param claims entries that bind matches to the server, written together with the intent
   */
  begin(server: Server, claims?: readonly HostingEntry[]): Promise<void> {
    server.tries = server.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
    this.#options.fleet.add(server)
    this.#plan(server)
    return this.#writeDown(server, () => this.#ask(server), claims)
  }

  /** Sends the create of a stored server that was not sent before the restart. */
  resume(server: Server): void {
    this.#plan(server)
    this.#ask(server)
  }

  /** Begins the next attempt for a server. The deployment of the previous attempt is gone. */
  async retry(server: Server): Promise<void> {
    const { fleet, clock, random } = this.#options
    const { order, id } = server
    const places = order === undefined ? undefined : await this.#placesFor(server, order)
    const next = nextAttempt(server.tries, elsewhereOf(server, places))
    if (next === undefined) return this.#giveUp(server, 'no-capacity', true)
    if (server.stopReason !== undefined) return this.#end(server)
    server.tries = [...server.tries, next]
    fleet.step(server, 'again')
    server.tag = serverTag(id, server.tries.length)
    await this.#writeDown(server, () => {
      const waitMs = backoffMs(server.tries.length - 1, random(), RETRY)
      this.#waiting.set(server, { at: clock.now() + waitMs })
    })
  }

  /** Ends a server whose create waits for a free request. False if its create was sent or waits for another reason. */
  forget(server: Server): boolean {
    const isWaiting = this.#limit.remove(server)
    if (isWaiting) this.#end(server)
    return isWaiting
  }

  /** Sends the creates whose time has come, and gives up those that have waited too long. */
  advance(now: number): void {
    for (const [server, { at, heldUntil }] of this.#waiting) {
      const { breaker } = this.#sourceOf(server)
      const hasRoom = heldUntil === undefined || breaker.room(this.#othersOf(server), now) > 0
      const isDue = hasRoom && Math.max(at, breaker.pausedUntil()) <= now && this.#spendingLimiter.mayCreate(now)
      const isOver = heldUntil !== undefined && now >= heldUntil
      if (server.stopReason === undefined && !isDue && !isOver) continue
      this.#waiting.delete(server)
      // A create that is not sent must not count against a limit, or be the one that probes a paused source.
      if (server.stopReason !== undefined) this.#end(server)
      else if (!isDue) this.#giveUp(server, 'unavailable', false)
      else {
        this.#plan(server)
        this.#ask(server)
      }
    }
  }

  /** Sends no further creates. The next process continues with the stored intents. */
  sendNoMore(): void {
    this.#limit.stop()
  }

  /** Returns the number of create requests in flight. */
  inFlight(): number {
    return this.#limit.underWay()
  }

  /** Returns the number of creates that wait for a free request. */
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
   * Stores the server's intent, then continues. If the write fails, the server ends. Resolves in both cases.
   * @param claims entries that bind matches to the server, written together with the intent
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
    // While the create waited, its source may have paused or reached its limit.
    if (!this.#mayBeSent(server)) return this.#holdBack(server)
    // Await only a real promise, so that the create is sent in the tick in which it was decided.
    if (order.placements !== undefined && server.placements === undefined) {
      const placements = order.placements()
      server.placements = deepFreeze(placements instanceof Promise ? await placements : placements)
      if (server.stopReason !== undefined) return this.#end(server)
      server.tries = [firstAttempt(order.deploy.requireCachedLocations, server.placements)]
    }
    let request: ReturnType<ServerSource['prepare']>
    try {
      // Build the large request only now, because many creates may wait.
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
    // Check again, because the source may have changed while the placements and the write were awaited.
    if (!this.#mayBeSent(server)) return this.#takeBack(server)
    const sentAt = this.#options.clock.now()
    this.#spendingLimiter.sent(server, sentAt)
    // The client may queue the request. It checks once more before it sends.
    const outcome = await request(() => this.#mayBeSent(server))
    if (outcome.kind === 'unavailable' && !this.#mayBeSent(server)) return this.#takeBack(server)
    this.#answered(server, outcome, sentAt)
  }

  /**
   * Builds the request of a server. Returns the function that sends the request.
   * @throws {MatchTooLarge}, or {InvalidInput} if the source cannot create such a server
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

  /** Records that the create is about to be sent. After a crash, only such creates must be looked for. */
  #noteSent(server: Server): Promise<void> | undefined {
    const { writer, clock } = this.#options
    const resumption = writer.resumes ? { resumption: resumptionOfServer(server) } : undefined
    return writer.append({ kind: 'sent', serverId: server.id, at: clock.now(), ...resumption })
  }

  /** Handles the outcome of a create. @param sentAt epoch milliseconds at which the create was sent */
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

  /** Handles a create without capacity. @param handle the deployment that was created anyway, if any */
  #foundNoCapacity(server: Server, handle: string | undefined): void {
    if (handle !== undefined && server.stopReason === undefined && this.#mayBeElsewhere(server))
      return this.#lifecycle.retry(server, handle)
    this.#lifecycle.fail(server, 'no-capacity', true)
    if (handle === undefined) this.#lifecycle.lose(server)
    else this.#lifecycle.exists(server, handle)
  }

  /** True if a further attempt may find another location. */
  #mayBeElsewhere(server: Server): boolean {
    const { capacity } = this.#sourceOf(server)
    return capacity !== undefined || nextAttempt(server.tries, elsewhereOf(server, undefined)) !== undefined
  }

  /** Returns the locations with capacity. Undefined if unknown. */
  async #placesFor(server: Server, { deploy }: Order): Promise<readonly Coordinates[] | undefined> {
    try {
      return await this.#sourceOf(server).capacity?.(deploy)
    } catch (error) {
      this.#options.on.problem('list', error, server)
      return undefined
    }
  }

  /** Returns the number of other servers of the same source that exist or may exist. */
  #othersOf({ source }: Server): number {
    const { fleet, sources } = this.#options
    return fleet.countOf(source) + sources.of(source).orphans() - 1
  }

  #mayBeSent(server: Server): boolean {
    return this.#sourceOf(server).breaker.maySend(server, this.#othersOf(server))
  }

  /** Lets a create wait for its source. It is given up after 10 s, unless players wait for the server. */
  #holdBack(server: Server): void {
    const at = this.#options.clock.now()
    this.#spendingLimiter.abandoned(server)
    this.#waiting.set(server, { at, heldUntil: this.#options.isPromised(server) ? Infinity : at + HELD_BACK_MS })
  }

  /** Repeats a create that had no effect, after a second. */
  #repeat(server: Server): void {
    this.#spendingLimiter.abandoned(server)
    this.#waiting.set(server, { at: this.#options.clock.now() + REPEAT_MS })
  }

  /** Records that a create was not sent after all, so that it is not looked for after a crash. */
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

  /** Handles a failed write before a create is sent. Ends the server, unless players wait for it. */
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

  /** Ends a server that does not exist, and its matches. */
  #giveUp(server: Server, reason: ReturnReason, counts: boolean | readonly string[]): void {
    this.#lifecycle.fail(server, reason, counts)
    this.#end(server)
  }

  #end(server: Server): void {
    this.#spendingLimiter.abandoned(server)
    this.#lifecycle.end(server)
  }
}
