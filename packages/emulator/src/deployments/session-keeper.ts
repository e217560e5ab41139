import type { Timers } from '../timers.js'
import { type DeploymentRecord, type SessionRecord, socketsOf } from './deployment-record.js'
import { isEnding } from './lifecycle.js'

const MINUTE_MS = 60_000

/** Cancels a wait. */
type Cancel = () => void

/**
 * Ends sessions, and stops deployments without sessions, as the version's session_config says. The meaning of its
 * fields is a public fact. A session ends after `session_max_duration` minutes. A READY deployment is stopped after
 * `empty_ttl` minutes without a session. A missing number or 0 disables either rule (our choice).
 * @param onEnd called after a session has ended and `record.sessions` has changed.
 * @returns a function. Call it after a deployment has reached another status, or its sessions have changed.
 */
export function createSessionKeeper(
  timers: Timers,
  stop: (record: DeploymentRecord) => void,
  onEnd: (record: DeploymentRecord) => void,
): (record: DeploymentRecord) => void {
  const emptyWaits = new Map<DeploymentRecord, Cancel>()
  const sessionWaits = new Map<DeploymentRecord, Map<string, Cancel>>()

  const watchEmptiness = (record: DeploymentRecord) => {
    const { life, sessionConfig, sessions } = record
    const minutes = sessionConfig?.empty_ttl ?? 0
    if (minutes === 0) return
    const isEmpty = life.status === 'READY' && sessions.size === 0
    if (isEmpty === emptyWaits.has(record)) return
    if (isEmpty) {
      const end = () => {
        emptyWaits.delete(record)
        stop(record)
      }
      emptyWaits.set(record, timers.after(minutes * MINUTE_MS, end))
    } else {
      emptyWaits.get(record)?.()
      emptyWaits.delete(record)
    }
  }

  const endSession = (record: DeploymentRecord, id: string) => {
    record.sessions = new Map([...record.sessions].filter(([other]) => other !== id))
    onEnd(record)
  }

  const watchSessions = (record: DeploymentRecord) => {
    const minutes = record.sessionConfig?.session_max_duration ?? 0
    if (minutes === 0) return
    const waits = sessionWaits.get(record) ?? new Map<string, Cancel>()
    const current = isEnding(record.life.status) ? new Map<string, unknown>() : record.sessions
    for (const [id, cancel] of waits) {
      if (current.has(id)) continue
      cancel()
      waits.delete(id)
    }
    for (const id of current.keys()) {
      const end = () => endSession(record, id)
      if (!waits.has(id)) waits.set(id, timers.after(minutes * MINUTE_MS, end))
    }
    if (waits.size > 0) sessionWaits.set(record, waits)
    else sessionWaits.delete(record)
  }

  return (record) => {
    // A terminated deployment has no sessions.
    if (record.life.status === 'TERMINATED') record.sessions = new Map()
    watchEmptiness(record)
    watchSessions(record)
  }
}

/** The session kinds of status views, by the version's session kind. */
const kinds: Readonly<Record<string, string>> = { Default: 'DEFAULT', Seat: 'SEATS', Match: 'MATCH' }

/**
 * Replaces the deployment's sessions. `sessions` is the number of users by session id.
 * @throws RangeError if the sessions do not fit.
 */
export function replaceSessions(record: DeploymentRecord, sessions: Readonly<Record<string, number>>): void {
  const sockets = socketsOf(record)
  if (sockets === undefined) throw new RangeError(`the version of deployment ${record.id} has no sessions`)
  const kind = record.sessionConfig?.kind ?? 'Default'
  const replacing = new Map<string, SessionRecord>()
  let used = 0
  for (const [id, users] of Object.entries(sessions)) {
    if (!Number.isInteger(users) || users < 0)
      throw new RangeError(`the users of session ${id} must be a whole number, not ${users}`)
    used += users
    replacing.set(id, { kind: kinds[kind] ?? kind, users })
  }
  if (used > sockets) throw new RangeError(`deployment ${record.id} has ${sockets} sockets, too few for ${used} users`)
  record.sessions = replacing
}
