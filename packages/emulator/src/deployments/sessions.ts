import { socketsOf, type DeploymentRecord, type SessionRecord } from './deployment-record.js'

/** The session kinds of status views, by the version's session kind. */
const kinds: Readonly<Record<string, string>> = { Default: 'DEFAULT', Seat: 'SEATS', Match: 'MATCH' }

/**
 * Replaces the deployment's sessions; `sessions` gives the number of users by session id.
 * @throws RangeError when the sessions do not fit.
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
