import type { AllocatorListener } from './allocations.js'
import { foundMatch, MatchTooLarge, serverEnvironment } from './server-environment.js'
import { TicketsGone } from './errors.js'
import { type ServerEntry, type ServerLogWriter, WRITTEN } from './store/index.js'
import { type Allocation, intentEntry, type Order, resumptionOf, credentialOf } from './records/index.js'
import { createFurtherAttempts, firstAttempt, type FurtherAttemptsOptions } from './retry-placement.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import { createConcurrencyLimit } from './server-limits.js'
import type { ServerKeys } from './game-servers/index.js'
import type { CreateOutcome, Sources } from './sources/index.js'

/** Sends create requests, each after the log holds its intent. */
export type DeploymentCreation = ReturnType<typeof createDeploymentCreation>

type OfFurtherAttempts = Pick<FurtherAttemptsOptions, 'allocations' | 'governor' | 'clock' | 'random'>

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
  readonly isPromised: (allocation: Allocation) => boolean
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
  const { sources, writer, resumes, governor, allocations, lifecycle, clock, keys, apiUrl, isPromised, on } = options

  /**
   * Makes the request of an allocation, and returns the function that sends it.
   * @throws {MatchTooLarge}, or {InvalidInput} if the source could not be asked for it
   */
  const requestFor = (allocation: Allocation, order: Order): (() => Promise<CreateOutcome>) => {
    const current = allocation.tries.at(-1) ?? firstAttempt(order.deploy.requireCachedLocations)
    const id = credentialOf(allocation.tag)
    const token = keys.tokenOf(id)
    const { deploy, near = order.tickets } = order
    const found = foundMatch(allocation, order, current.placement)
    return sources.of(allocation.source).prepare({
      id,
      deploy,
      environment: serverEnvironment({ found, deploy, token, pool: allocation.pool, apiUrl }),
      token,
      at: current.at,
      players: near.flatMap(({ players }) => players),
      cachedOnly: current.cachedOnly,
    })
  }

  const withResumption = <Entry extends ServerEntry>(entry: Entry, allocation: Allocation): Entry =>
    resumes ? { ...entry, resumption: resumptionOf(allocation) } : entry

  /** Ends an allocation whose create was not sent. */
  const end = (allocation: Allocation): void => {
    governor.forgone(allocation)
    lifecycle.end(allocation)
  }

  /** Ends an allocation whose environment variables are too large. */
  const refused = (allocation: Allocation, error: unknown): void => {
    on.problem('create', error, allocation)
    lifecycle.fail(allocation, 'refused', error instanceof MatchTooLarge ? error.ticketIds : false)
    end(allocation)
  }

  /** @param sentAt epoch milliseconds. */
  const failed = (
    allocation: Allocation,
    failure: Exclude<CreateOutcome, { kind: 'created' }>,
    sentAt: number,
  ): void => {
    on.problem('create', failure.error, allocation)
    const { gate } = sources.of(allocation.source)
    switch (failure.kind) {
      case 'lost':
        gate.failed(sentAt, clock.now())
        return lifecycle.lose(allocation)
      case 'unavailable':
        gate.failed(sentAt, clock.now())
        if (isPromised(allocation)) return further.repeat(allocation)
        lifecycle.fail(allocation, 'unavailable', false)
        return lifecycle.end(allocation)
      case 'refused':
        gate.answered(clock.now())
        lifecycle.fail(allocation, 'refused', true)
        return lifecycle.end(allocation)
      case 'no-capacity':
        gate.answered(clock.now())
        if (failure.handle !== undefined && allocation.unwanted === undefined && further.arePossible(allocation)) {
          return lifecycle.retry(allocation, failure.handle)
        }
        lifecycle.fail(allocation, 'no-capacity', true)
        if (failure.handle === undefined) lifecycle.lose(allocation)
        else lifecycle.exists(allocation, failure.handle)
    }
  }

  const othersOf = ({ source }: Allocation): number => allocations.countOf(source) + sources.of(source).strays() - 1

  /** Holds a create back that must not be sent now. A server that players were promised is not given up. */
  const holdBack = (allocation: Allocation): void => {
    governor.forgone(allocation)
    further.holdBack(allocation, isPromised(allocation) ? Infinity : HELD_BACK_MS)
  }

  const mayBeSent = (allocation: Allocation): boolean =>
    sources.of(allocation.source).gate.lets(allocation, othersOf(allocation))

  /** Ends an allocation whose create could not be noted as sent. A server that players were promised waits. */
  const notNoted = (allocation: Allocation, error: unknown): void => {
    if (!isPromised(allocation)) return unwritten(allocation, error)
    on.problem('store', error, allocation)
    sources.of(allocation.source).gate.failed(clock.now(), clock.now())
    governor.forgone(allocation)
    further.repeat(allocation)
  }

  /** Notes that a create was not sent after all, so that no later process looks for its server. */
  const takeBack = async (allocation: Allocation): Promise<void> => {
    try {
      await writer.append(withResumption(intentEntry(allocation), allocation))
    } catch (error) {
      return notNoted(allocation, error)
    }
    if (allocation.unwanted === undefined) holdBack(allocation)
    else end(allocation)
  }

  const send = async (allocation: Allocation): Promise<void> => {
    const { order } = allocation
    if (order === undefined) return
    // It was planned a while ago: a wrong address may have been found out since.
    if (!mayBeSent(allocation)) return holdBack(allocation)
    if (order.placements !== undefined && allocation.placements === undefined) {
      const placements = order.placements()
      allocation.placements = placements instanceof Promise ? await placements : placements
      if (allocation.unwanted !== undefined) return end(allocation)
      allocation.tries = [firstAttempt(order.deploy.requireCachedLocations, allocation.placements)]
    }
    let request: () => Promise<CreateOutcome>
    try {
      // The request is made only when its turn comes, because it is large and many may wait.
      request = requestFor(allocation, order)
    } catch (error) {
      return refused(allocation, error)
    }
    // After a crash, only creates that were sent have to be looked for.
    const noted = writer.append(
      withResumption({ kind: 'sent', matchId: allocation.matchId, at: clock.now() }, allocation),
    )
    if (noted !== undefined) {
      try {
        await noted
      } catch (error) {
        return notNoted(allocation, error)
      }
      if (allocation.unwanted !== undefined) return end(allocation)
    }
    // The placements and the write took time, and another answer may have come.
    if (!mayBeSent(allocation)) return takeBack(allocation)
    const sentAt = clock.now()
    governor.sent(allocation, sentAt)
    const outcome = await request()
    if (outcome.kind !== 'created') return failed(allocation, outcome, sentAt)
    sources.of(allocation.source).gate.answered(clock.now())
    lifecycle.exists(allocation, outcome.handle)
  }
  const limit = createConcurrencyLimit(options.maxCreatesInFlight, send)

  const ask = (allocation: Allocation): void => {
    if (allocation.unwanted === undefined) limit.add(allocation)
    else end(allocation)
  }

  const unwritten = (allocation: Allocation, error: unknown): void => {
    if (error instanceof TicketsGone) {
      lifecycle.fail(allocation, 'dissolved', false)
    } else {
      on.problem('store', error, allocation)
      sources.of(allocation.source).gate.failed(clock.now(), clock.now())
      lifecycle.fail(allocation, 'unavailable', false)
    }
    end(allocation)
  }

  /** Resolves when the intent is stored and the attempt goes on, or the write failed and the allocation has ended. */
  const writeDown = (allocation: Allocation, goOn: (allocation: Allocation) => void): Promise<void> => {
    const appended = writer.areKept ? writer.append(withResumption(intentEntry(allocation), allocation)) : undefined
    if (appended !== undefined)
      return appended.then(
        () => goOn(allocation),
        (error: unknown) => unwritten(allocation, error),
      )
    goOn(allocation)
    return WRITTEN
  }

  const plan = (allocation: Allocation): void => {
    governor.planned(allocation)
    sources.of(allocation.source).gate.planned(allocation, clock.now())
  }

  const further = createFurtherAttempts({
    sources,
    allocations,
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
    /** Begins the first attempt. Resolves once the log holds the intent. Reports the outcome to `AllocatorListener`. */
    begin: (allocation: Allocation) => {
      allocation.tries = allocation.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
      allocations.add(allocation)
      plan(allocation)
      return writeDown(allocation, ask)
    },

    /** Sends the create of a match whose intent an earlier process wrote, and which was never sent. */
    resume: (allocation: Allocation) => {
      plan(allocation)
      ask(allocation)
    },
    /** Schedules the next placement attempt. Call once the previous deployment is gone. */
    retry: further.plan,

    /** Cancels a create that was not sent: nothing of it is left. Returns false if it is under way, or was sent. */
    forget: (allocation: Allocation) => {
      const isWaiting = limit.remove(allocation)
      if (isWaiting) end(allocation)
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
