import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { backoffMs, createAttempts, linkedSignal, manyWaitOn } from '@muster/core/internal'
import { LobbyRefused, RelayNotDeleted } from '../errors.js'
import type { ListedSession } from '../sessions/index.js'
import type { SystemCommand } from './command.js'
import { type Lobby, sessionOf } from './lobby.js'
import type { LobbyRules } from '../lobby-rules.js'
import { endable, type Work, workOf } from './run.js'
import { parseRunKey, type Runner } from './runner.js'
import type { LobbyStore } from './store.js'

interface KeeperOptions {
  readonly runner: Runner
  readonly clock: Clock
  readonly rules: LobbyRules
  /** Id of this process among those that share the store. */
  readonly worker: string
  readonly read: (lobbyId: string) => Promise<Lobby | undefined>
  /** Rejects if the command is refused. */
  readonly change: (lobbyId: string, command: SystemCommand) => Promise<Lobby>
  /** Called if pending work cannot be read or written. A later tick begins it again. */
  readonly failed: (error: unknown) => void
}

/** Lengths of the pauses between two attempts of a task. */
const RETRY = { baseMs: 500, capMs: 10_000, jitter: 0 }
const pauseAfter = (failures: number) => backoffMs(failures, 0, RETRY)

/**
 * Milliseconds after which a member whose address the relay service refuses is tried again, and the maximum number of
 * remembered refusals (our choices). Each attempt costs two requests, and a hostile lobby may have 63 such members.
 */
const REFUSED_MS = 300_000
const MOST_REFUSED = 10_000

/** Creates, updates and ends the sessions or matches of started lobbies. */
export function createKeeper({ runner, clock, rules, worker, read, change, failed }: KeeperOptions) {
  const closing = manyWaitOn()
  const running = new Map<string, Promise<void>>()
  const ending = new Map<string, Promise<void>>()
  const refusals = createAttempts({ limit: 1, windowMs: REFUSED_MS, maxKeys: MOST_REFUSED, clock })

  const keyOf = (lobby: Lobby, { id, ip }: { readonly id: string; readonly ip: string }) =>
    JSON.stringify([lobby.id, id, ip])
  const isRefused = (lobby: Lobby, player: { readonly id: string; readonly ip: string }) =>
    refusals.wait(keyOf(lobby, player)) > 0
  const pendingOf = (lobby: Lobby) =>
    workOf(lobby).filter((work) => work.kind !== 'authorize' || !isRefused(lobby, work.player))
  /** Returns the lobby without members whom the service has refused: they would keep the others from a new session. */
  const openableFor = (lobby: Lobby): Lobby => ({
    ...lobby,
    members: lobby.members.filter((member) => member.id === lobby.hostId || !isRefused(lobby, member)),
  })

  /**
   * Runs one task per lobby until it has no pending work. Work that arrives meanwhile is found by reading the lobby
   * again.
   */
  const begin = (tasks: Map<string, Promise<void>>, lobbyId: string, task: (lobbyId: string) => Promise<void>) => {
    if (closing.signal.aborted || tasks.has(lobbyId)) return
    const started = task(lobbyId)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) failed(error)
      })
      .finally(() => tasks.delete(lobbyId))
    tasks.set(lobbyId, started)
  }

  const endRetired = async (lobbyId: string) => {
    for (let failures = 0; ;) {
      const lobby = await read(lobbyId)
      const ids = lobby === undefined ? [] : endable(lobby)
      if (ids.length === 0) return
      const ended = await Promise.all(ids.map((id) => endOne(lobbyId, id)))
      failures = ended.every((one) => !one) ? failures + 1 : 0
      if (failures > 0) await clock.sleep(pauseAfter(failures), closing.signal)
    }
  }
  const endOne = async (lobbyId: string, retiredId: string): Promise<boolean> => {
    try {
      await runner.end(retiredId)
      await change(lobbyId, { kind: 'ended', retiredId })
      return true
    } catch {
      return false // The task is retried.
    }
  }

  const performWork = async (lobbyId: string) => {
    let failures = 0
    /** Number of tasks that have failed since the last pause. If one player is refused, the others have their turns. */
    let passed = 0
    for (;;) {
      const lobby = await claim(lobbyId)
      const all = lobby === undefined ? [] : pendingOf(lobby)
      // Players are authorized after the tokens of those who left are revoked.
      const work = all[0]?.kind === 'authorize' ? (all[passed] ?? all[0]) : all[0]
      if (lobby === undefined || work === undefined) break
      try {
        await whileHolding(lobbyId, (signal) => perform(lobby, work, signal))
        failures = 0
      } catch (error) {
        if (closing.signal.aborted) break
        if (work.kind === 'authorize' && error instanceof InvalidInput) {
          refusals.charge(keyOf(lobby, work.player))
          const [sessionId, memberId] = [work.session.id, work.player.id]
          await change(lobbyId, { kind: 'refused', sessionId, memberId }).catch(() => {})
          continue
        }
        passed += 1
        if (work.kind === 'authorize' && passed < all.length) continue
        failures += 1
        passed = 0
        await clock.sleep(pauseAfter(failures), closing.signal).catch(() => {})
      }
    }
    if ((await read(lobbyId))?.lease?.worker === worker) await change(lobbyId, { kind: 'release', worker })
  }

  /** Assigns the lobby's pending work to this process, if there is some and no other process does it. */
  const claim = async (lobbyId: string): Promise<Lobby | undefined> => {
    const lobby = await read(lobbyId)
    if (lobby === undefined || closing.signal.aborted || pendingOf(lobby).length === 0) return undefined
    // Keep the run as it was before the claim, because it shows what an earlier process had started.
    const claimed = await change(lobbyId, { kind: 'claim', worker }).catch(() => undefined)
    return claimed === undefined || lobby.run?.status !== 'allocating' || claimed.run?.term !== lobby.run.term
      ? claimed
      : { ...claimed, run: lobby.run }
  }

  const perform = async (lobby: Lobby, work: Work, signal: AbortSignal) => {
    const result = await runner.perform(work, work.kind === 'open' ? openableFor(lobby) : lobby, worker, signal)
    try {
      await change(lobby.id, result)
    } catch (error) {
      // If the lobby refused the result, no lobby would own the session or ticket, so end it. If the store failed, the
      // lobby may have accepted the result, so leave it to the search for orphans.
      const id =
        result.kind === 'opened' ? result.session.id : result.kind === 'handedOver' ? result.reference : undefined
      if (id !== undefined && error instanceof LobbyRefused) await runner.end(id).catch(() => {})
      throw error
    } finally {
      runner.settled(result)
    }
  }

  /** Renews the lease periodically until the work is done. */
  const whileHolding = async (lobbyId: string, work: (signal: AbortSignal) => Promise<void>) => {
    const done = new AbortController()
    const linked = linkedSignal(done.signal, closing.signal)
    const renew = async () => {
      for (;;) {
        await clock.sleep(rules.leaseMs / 3, linked.signal)
        await change(lobbyId, { kind: 'claim', worker }).catch(() => {})
      }
    }
    void renew().catch(() => {}) // The renewals end with the work.
    try {
      await work(linked.signal)
    } finally {
      done.abort()
      linked.unlink()
    }
  }

  return {
    /** Starts the pending work of a lobby, unless it is running. Returns immediately. */
    startWork: (lobby: Lobby) => {
      if (endable(lobby).length > 0) begin(ending, lobby.id, endRetired)
      if (pendingOf(lobby).length > 0) begin(running, lobby.id, performWork)
    },
    /** Stops and releases every lobby. Pending work remains in the store for another process. */
    close: async () => {
      closing.abort()
      await Promise.all([...running.values(), ...ending.values()])
    },
  }
}

/** Milliseconds between two attempts to close all lobbies. */
const PAUSE_MS = 1000

/**
 * Closes every lobby of the store, ends its sessions and tickets, and removes it from the store.
 * @throws {RelayNotDeleted} if that takes too long.
 */
export async function closeAll(
  store: LobbyStore,
  { runner, change, clock }: Pick<KeeperOptions, 'runner' | 'change' | 'clock'>,
  timeoutMs: number,
): Promise<void> {
  const deadline = clock.now() + timeoutMs
  for (;;) {
    const left = (await Promise.all((await store.ids()).map(closeOne))).flat()
    if ((await store.ids()).length === 0) return
    if (clock.now() >= deadline) {
      throw new RelayNotDeleted(`${left.length} relay sessions of lobbies may still exist. Delete them by hand.`, {
        sessionIds: left,
      })
    }
    await clock.sleep(PAUSE_MS)
  }

  /** @returns ids of the sessions and tickets that could not be ended. */
  async function closeOne(lobbyId: string): Promise<readonly string[]> {
    const closed = await change(lobbyId, { kind: 'shutDown' }).catch(() => undefined) // gone, or contended
    if (closed === undefined) return []
    const failed = await Promise.all(
      closed.retired.map(({ id }) =>
        runner.end(id).then(
          () => [],
          () => [id],
        ),
      ),
    )
    const left = failed.flat()
    const stored = left.length === 0 ? await store.get(lobbyId) : undefined
    if (stored !== undefined) await store.delete(lobbyId, stored.version)
    return left
  }
}

/**
 * Decides whether a lobby owns a session. A session that was not opened for a lobby counts as owned, so that it is not
 * deleted.
 */
export function createOwnership(store: LobbyStore): (session: ListedSession) => Promise<boolean> {
  return async ({ id, label }) => {
    const key = parseRunKey(label)
    if (key === undefined) return true
    const lobby = (await store.get(key.lobbyId))?.lobby
    return lobby !== undefined && has(lobby, id, key.term)
  }
}

const has = (lobby: Lobby, sessionId: string, term: number): boolean =>
  sessionOf(lobby)?.id === sessionId ||
  lobby.retired.some(({ id }) => id === sessionId) ||
  // The session is just being opened. If the opening process opens another one instead, it deletes this one itself.
  (lobby.run?.status === 'allocating' && lobby.run.term === term)
