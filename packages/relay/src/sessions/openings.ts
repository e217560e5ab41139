import { linkedSignal, unlessAborted } from '@muster/core/internal'
import { awaitReady, createHostLimit, createSession } from './open-session.js'
import { tryRemoveSession } from './orphans.js'
import type { OwnedSession, SessionContext } from './session-context.js'
import { type SessionOpening, openingOf, type OpenRelaySession, type RelaySessionsConfig } from './session-options.js'
import type { ReadySession } from './session.js'

/**
 * The sessions that are being opened. A session whose caller has stopped waiting is opened to the end and then deleted.
 */
export class Openings {
  readonly #context: SessionContext
  readonly #config: RelaySessionsConfig
  readonly #onCreate: () => void
  readonly #hosts: ReturnType<typeof createHostLimit>
  /** Running creates, including those whose caller has stopped waiting. */
  readonly #creating = new Set<Promise<void>>()

  /** @param onCreate called after each create, successful or not */
  constructor(context: SessionContext, config: RelaySessionsConfig, onCreate: () => void) {
    this.#context = context
    this.#config = config
    this.#onCreate = onCreate
    this.#hosts = createHostLimit(context, config.sessionsPerHost)
  }

  admit(input: OpenRelaySession, signal: AbortSignal | undefined): SessionOpening {
    this.#context.closing.throwIfAborted()
    signal?.throwIfAborted()
    const opening = openingOf(input)
    this.#hosts.admit(opening.hostId)
    return opening
  }

  async open(opening: SessionOpening, signal: AbortSignal | undefined): Promise<ReadySession> {
    const linked = linkedSignal(signal, this.#context.closing)
    let entry: OwnedSession | undefined
    const another = async (again: SessionOpening) => (entry = await this.create(again, linked.signal))
    try {
      return await awaitReady(this.#context, await another(opening), this.#config, linked.signal, another)
    } catch (error) {
      if (entry !== undefined && entry.condemned === undefined)
        await tryRemoveSession(this.#context, entry.session.id, 'abandoned')
      throw error
    } finally {
      linked.unlink()
    }
  }

  /** Creates a session. If its caller stops waiting, the create continues, because it may have had an effect. */
  create(opening: SessionOpening, signal: AbortSignal | undefined): Promise<OwnedSession> {
    const created = this.#hosts.creating(opening.hostId)
    const creation = createSession(this.#context, opening).finally(created).finally(this.#onCreate)
    const settled: Promise<void> = creation
      .then(async ({ session }) => {
        if (signal?.aborted === true) await tryRemoveSession(this.#context, session.id, 'abandoned')
      })
      .catch(() => {})
      .finally(() => this.#creating.delete(settled))
    this.#creating.add(settled)
    return unlessAborted(creation, signal)
  }

  async awaitReady(entry: OwnedSession, signal: AbortSignal | undefined): Promise<ReadySession> {
    const linked = linkedSignal(signal, this.#context.closing)
    let second: OwnedSession | undefined
    const another = async (again: SessionOpening) => (second = await this.create(again, linked.signal))
    try {
      return await awaitReady(this.#context, entry, this.#config, linked.signal, another)
    } catch (error) {
      // The caller does not know the id of a second session, so nobody else could delete it.
      if (second !== undefined && second.condemned === undefined)
        await tryRemoveSession(this.#context, second.session.id, 'abandoned')
      throw error
    } finally {
      linked.unlink()
    }
  }

  /** Resolves when no create is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#creating)
  }
}
