import { isProblem, placeFilter } from '../deployments/index.js'
import type { RelaySessionRecord } from '../relays/index.js'
import type { World } from '../world.js'
import { fail, type Failure, type HandlersOf, noContent, ok, onePage } from './handler.js'
import { isFailure, unknown, ifFound } from './lookup.js'

const findSession = (world: World, id: string): RelaySessionRecord | Failure<404> =>
  world.relays.get(id) ?? unknown('relay session', id)

/**
 * The handlers of relay sessions. The statuses of their errors are public facts. A handler's comment says if the
 * condition of an error is our choice.
 */
export const relays: HandlersOf<'relays'> = {
  create: async ({ users, filters = [], webhook_url }, { world, faults }) => {
    const allows = placeFilter(filters)
    if (isProblem(allows)) return fail(400, allows.problem)
    const ips = users.map(({ ip }) => ip)
    const session = await world.relays.create({
      users: ips,
      allows,
      webhookUrl: webhook_url,
      fault: faults?.relay,
      webhookFault: faults?.webhooks,
      packetFault: faults?.packets,
    })
    if (session === undefined) return fail(503, 'no relay is available')
    // The response is created first. It must show the state before the webhook, after which the session may already be
    // ready.
    const answer = ok(world.relays.view({ ...session, state: 'initializing' }))
    if (faults?.webhooks === 'early') await world.relays.called(session)
    return answer
  },

  list: (_input, { world }) => {
    const { items, pagination } = onePage(world.relays.all())
    return ok({ sessions: items.map(world.relays.view), pagination })
  },

  get: ({ session_id }, { world }) =>
    ifFound(findSession(world, session_id), (session) => ok(world.relays.view(session))),

  delete: async ({ session_id }, { world }) => {
    const session = findSession(world, session_id)
    if (isFailure(session)) return session
    await world.relays.delete(session)
    return noContent()
  },

  /** Adds a user to a session. Fails with 409 if the session is not ready, because it then has no relay. */
  authorizeUser: ({ session_id, user_ip }, { world }) =>
    ifFound(findSession(world, session_id), (session) => {
      if (session.state === 'initializing') return fail(409, 'the relay session is not ready yet')
      return ok(world.relays.viewOfUser(session, world.relays.authorize(session, user_ip)))
    }),

  revokeUser: ({ session_id, authorization_token }, { world }) =>
    ifFound(findSession(world, session_id), (session) => {
      if (!world.relays.revoke(session, authorization_token))
        return fail(404, 'no user of the relay session has this token')
      return world.relaySettings.revokeAnswers === 204 ? noContent() : ok(world.relays.view(session))
    }),
}
