import type { AllocatorListener } from './fleet.js'
import { foundMatch, MatchTooLarge, serverEnvironment } from '../environment/server-environment.js'
import { TicketsGone } from '../errors.js'
import { type HostingEntry, type ServerLogWriter, WRITTEN } from '../store/index.js'
import { matchIntent, type Order, resumptionOfServer, type Server, serverIntent } from '../records/index.js'
import { createFurtherAttempts, firstAttempt, type FurtherAttemptsOptions } from './retry-placement.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import { createConcurrencyLimit } from './server-limits.js'
import type { ServerKeys } from '../game-servers/index.js'
import type { CreateOutcome, ServerSource, Sources } from '../sources/index.js'

/** Sends create requests, each after the log holds its intent. */
export type DeploymentCreation = ReturnType<typeof createDeploymentCreation>

type OfFurtherAttempts = Pick<FurtherAttemptsOptions, 'fleet' | 'governor' | 'clock' | 'random'>

interface DeploymentCreationOptions extends OfFurtherAttempts {
  readonly sources: Pick<Sources, 'of'>
  readonly writer: Pick<ServerLogWriter, 'append' | 'areKept'>
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly lifecycle: ServerLifecycle
  readonly keys: Pick<ServerKeys, 'tokenOf'>
  readonly maxCreatesInFlight: number
  readonly apiUrl: string | undefined
  /** Whether players were promised this server: what fails before it is created is repeated. */
  readonly isPromised: (server: Server) => boolean
  readonly on: AllocatorListener
}

/** The first attempt, with or without cached locations only; one object shared by all matches. */
const FIRST = [firstAttempt(false)]
const FIRST_CACHED = [firstAttempt(true)]
/**
 * Milliseconds for which a create is held back (our choice): a restart is over and a list is answered by then, and
 * players who search see that nothing can be created.
 */
const HELD_BACK_MS = 10_000

export function createDeploymentCreation(options: DeploymentCreationOptions) {
  const { sources, writer, resumes, governor, fleet, lifecycle, clock, keys, apiUrl, isPromised, on } = options

  /**
   * Makes the request of a server, and returns the function that sends it.
   * @throws {MatchTooLarge}, or {InvalidInput} if the source could not be asked for it
   */
  const requestFor = (server: Server, order: Order): ReturnType<ServerSource['prepare']> => {
    const current = server.tries.at(-1) ?? firstAttempt(order.deploy.requireCachedLocations)
    const id = server.credential
    const token = keys.tokenOf(id)
    const { deploy, near = order.tickets } = order
    const found = foundMatch(server, order, current.placement)
    return sources.of(server.source).prepare({
      id,
      deploy,
      environment: serverEnvironment({ found, deploy, token, pool: server.pool, apiUrl }),
      token,
      at: current.at,
      players: near.flatMap(({ players }) => players),
      cachedOnly: current.cachedOnly,
    })
  }

  /** Ends a server whose create was not sent. */
  const end = (server: Server): void => {
    governor.forgone(server)
    lifecycle.end(server)
  }

  /** Ends a server whose environment variables are too large. */
  const refused = (server: Server, error: unknown): void => {
    on.problem('create', error, server)
    lifecycle.fail(server, 'refused', error instanceof MatchTooLarge ? error.ticketIds : false)
    end(server)
  }

  /** @param sentAt epoch milliseconds. */
  const failed = (server: Server, failure: Exclude<CreateOutcome, { kind: 'created' }>, sentAt: number): void => {
    on.problem('create', failure.error, server)
    const { gate } = sources.of(server.source)
    switch (failure.kind) {
      case 'lost':
        gate.failed(sentAt, clock.now())
        return lifecycle.lose(server)
      case 'unavailable':
        gate.failed(sentAt, clock.now())
        if (isPromised(server)) return further.repeat(server)
        lifecycle.fail(server, 'unavailable', false)
        return lifecycle.end(server)
      case 'refused':
        gate.answered(clock.now())
        lifecycle.fail(server, 'refused', true)
        return lifecycle.end(server)
      case 'no-capacity':
        gate.answered(clock.now())
        if (failure.handle !== undefined && server.unwanted === undefined && further.arePossible(server)) {
          return lifecycle.retry(server, failure.handle)
        }
        lifecycle.fail(server, 'no-capacity', true)
        if (failure.handle === undefined) lifecycle.lose(server)
        else lifecycle.exists(server, failure.handle)
    }
  }

  const othersOf = ({ source }: Server): number => fleet.countOf(source) + sources.of(source).strays() - 1

  /** Holds a create back that must not be sent now. A server that players were promised is not given up. */
  const holdBack = (server: Server): void => {
    governor.forgone(server)
    further.holdBack(server, isPromised(server) ? Infinity : HELD_BACK_MS)
  }

  const mayBeSent = (server: Server): boolean => sources.of(server.source).gate.lets(server, othersOf(server))

  /** Ends a server whose create could not be noted as sent. A server that players were promised waits. */
  const notNoted = (server: Server, error: unknown): void => {
    if (!isPromised(server)) return unwritten(server, error)
    on.problem('store', error, server)
    sources.of(server.source).gate.failed(clock.now(), clock.now())
    governor.forgone(server)
    further.repeat(server)
  }

  /** Notes that a create was not sent after all, so that no later process looks for its server. */
  const takeBack = async (server: Server): Promise<void> => {
    try {
      await writer.append(serverIntent(server, resumes))
    } catch (error) {
      return notNoted(server, error)
    }
    if (server.unwanted === undefined) holdBack(server)
    else end(server)
  }

  const send = async (server: Server): Promise<void> => {
    const { order } = server
    if (order === undefined) return
    // It was planned a while ago: a wrong address may have been found out since.
    if (!mayBeSent(server)) return holdBack(server)
    if (order.placements !== undefined && server.placements === undefined) {
      const placements = order.placements()
      server.placements = placements instanceof Promise ? await placements : placements
      if (server.unwanted !== undefined) return end(server)
      server.tries = [firstAttempt(order.deploy.requireCachedLocations, server.placements)]
    }
    let request: ReturnType<ServerSource['prepare']>
    try {
      // The request is made only when its turn comes, because it is large and many may wait.
      request = requestFor(server, order)
    } catch (error) {
      return refused(server, error)
    }
    // After a crash, only creates that were sent have to be looked for.
    const resumption = resumes ? { resumption: resumptionOfServer(server) } : undefined
    const noted = writer.append({ kind: 'sent', serverId: server.id, at: clock.now(), ...resumption })
    if (noted !== undefined) {
      try {
        await noted
      } catch (error) {
        return notNoted(server, error)
      }
      if (server.unwanted !== undefined) return end(server)
    }
    // The placements and the write took time, and another answer may have come.
    if (!mayBeSent(server)) return takeBack(server)
    const sentAt = clock.now()
    governor.sent(server, sentAt)
    // In the client it waits for its turn, and another answer may come meanwhile.
    const outcome = await request(() => mayBeSent(server))
    if (outcome.kind === 'unavailable' && !mayBeSent(server)) return takeBack(server)
    if (outcome.kind !== 'created') return failed(server, outcome, sentAt)
    sources.of(server.source).gate.answered(clock.now())
    lifecycle.exists(server, outcome.handle)
  }
  const limit = createConcurrencyLimit(options.maxCreatesInFlight, send)

  const ask = (server: Server): void => {
    if (server.unwanted === undefined) limit.add(server)
    else end(server)
  }

  const unwritten = (server: Server, error: unknown): void => {
    if (error instanceof TicketsGone) {
      lifecycle.fail(server, 'dissolved', false)
    } else {
      on.problem('store', error, server)
      sources.of(server.source).gate.failed(clock.now(), clock.now())
      lifecycle.fail(server, 'unavailable', false)
    }
    end(server)
  }

  /** The entries that precede a create: also that of the match for which alone it is. */
  const intentsOf = (server: Server): readonly HostingEntry[] => {
    const ofServer = serverIntent(server, resumes)
    return server.bornFor === undefined ? [ofServer] : [matchIntent(server.bornFor, resumes), ofServer]
  }

  /**
   * Resolves when the intent is stored and the attempt goes on, or the write failed and the server has ended.
   * @param claims what is written with it
   */
  const writeDown = (
    server: Server,
    goOn: (server: Server) => void,
    claims: readonly HostingEntry[] = [],
  ): Promise<void> => {
    const appended = writer.areKept ? writer.append(...intentsOf(server), ...claims) : undefined
    if (appended !== undefined)
      return appended.then(
        () => goOn(server),
        (error: unknown) => unwritten(server, error),
      )
    goOn(server)
    return WRITTEN
  }

  const plan = (server: Server): void => {
    governor.planned(server)
    sources.of(server.source).gate.planned(server, clock.now())
  }

  const further = createFurtherAttempts({
    sources,
    fleet,
    governor,
    lifecycle,
    clock,
    random: options.random,
    othersOf,
    writeDown,
    ask,
    problem: on.problem,
  })

  return {
    /**
     * Begins the first attempt. Resolves once the log holds the intent. Reports the outcome to `AllocatorListener`.
     * @param claims of the matches that are to be on it: written with the intent
     */
    begin: (server: Server, claims?: readonly HostingEntry[]) => {
      server.tries = server.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
      fleet.add(server)
      plan(server)
      return writeDown(server, ask, claims)
    },

    /** Sends the create of a match whose intent an earlier process wrote, and which was never sent. */
    resume: (server: Server) => {
      plan(server)
      ask(server)
    },
    /** Schedules the next placement attempt. Call once the previous deployment is gone. */
    retry: further.plan,

    /** Cancels a create that was not sent: nothing of it is left. Returns false if it is under way, or was sent. */
    forget: (server: Server) => {
      const isWaiting = limit.remove(server)
      if (isWaiting) end(server)
      return isWaiting
    },

    /** Begins the attempts that are due. */
    advance: further.advance,
    /** Stops sending creates. Logged intents stay; the next process takes them over. */
    sendNoMore: limit.stop,
    /** Number of creates that were sent and are not answered yet. */
    inFlight: limit.underWay,
    /** Number of creates that wait for their turn. */
    waiting: limit.waiting,
  }
}
