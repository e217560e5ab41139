import { Conflict, InvalidInput, NotFound } from '@muster/core'
import { describe, expect, test, vi } from 'vitest'
import { RelayNotAuthorized } from '../errors.js'
import type { RelayService } from './session-context.js'
import { dora, failing, players, setUp } from './sessions.fixture.js'
import { createRelaySessions } from './sessions.js'

describe('adding a player to a session', () => {
  test.each([
    'no fault',
    'response lost',
    'request lost',
    'server error',
    'conflict after the effect',
    'token of another user',
    'carried out late',
  ] as const)(
    'adding a player to a relay session gives the player a distinct token, with the fault “%s”',
    async (fault) => {
      const { service, sessions, within } = setUp({
        faults: fault === 'no fault' ? [] : [{ operation: 'authorizeUser', fault, times: 1 }],
      })
      const { id } = await within(sessions.open({ players }))
      const session = await within(sessions.authorize(id, dora))
      const tokens = session.seats.map(({ token }) => token)
      expect(new Set(tokens).size).toBe(4)
      for (const token of tokens) expect(service.isValid(session.link.token, token)).toBe(true)
      expect((await sessions.authorize(id, dora)).seats).toEqual(session.seats)
    },
  )

  test('a player is added by the response of authorizeUser alone if the session cannot be read', async () => {
    const { service, sessions, within } = setUp()
    const { id } = await within(sessions.open({ players }))
    service.setFaults([{ operation: 'get', fault: 'request lost' }])
    const { seats } = await within(sessions.authorize(id, dora))
    expect(seats).toHaveLength(4)
  })

  test('adding a player refuses a token that belongs to another relay user', async () => {
    const { service, sessions, within } = setUp()
    const { id } = await within(sessions.open({ players }))
    service.setFaults([
      { operation: 'authorizeUser', fault: 'token of another user' },
      { operation: 'get', fault: 'request lost' },
    ])
    expect(await within(failing(sessions.authorize(id, dora)))).toBeInstanceOf(RelayNotAuthorized)
    expect(() => sessions.credentialsFor(id, 'dora')).toThrow(NotFound)
  })

  test('adding a player refuses a token of a relay user at another address', async () => {
    const { clock, service, within } = setUp()
    const client: RelayService = {
      ...service,
      authorizeUser: async (input) => {
        const answer = await service.authorizeUser(input)
        return { ...answer, session_user: { ...answer.session_user, ip_address: '198.51.100.9' } }
      },
    }
    const sessions = createRelaySessions({ client, clock })
    const { id } = await within(sessions.open({ players }))
    service.setFaults([{ operation: 'get', fault: 'request lost' }])
    expect(await within(failing(sessions.authorize(id, dora)))).toBeInstanceOf(RelayNotAuthorized)
  })

  test('two players who join a relay session together from one address get two tokens', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'authorizeUser', fault: 'response lost' }] })
    const { id } = await within(sessions.open({ players }))
    const [, second] = await within(
      Promise.all([sessions.authorize(id, dora), sessions.authorize(id, { id: 'eve', ip: dora.ip })]),
    )
    expect(new Set(second.seats.map(({ token }) => token)).size).toBe(5)
  })

  test('a player with a new address gets a new relay token, and the old token is revoked', async () => {
    const { service, sessions, within } = setUp()
    const { id } = await within(sessions.open({ players }))
    const before = sessions.credentialsFor(id, 'bob')
    const session = await within(sessions.authorize(id, { id: 'bob', ip: '198.51.100.1' }))
    expect(session.spent).toEqual([])
    const after = sessions.credentialsFor(id, 'bob')
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect(service.isValid(after.sessionToken, after.userToken)).toBe(true)
  })

  test('adding a player ends in an error and no token if the player is never authorized', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'authorizeUser', fault: 'conflict' }] })
    const { id } = await within(sessions.open({ players }))
    expect(await within(failing(sessions.authorize(id, dora)))).toBeInstanceOf(RelayNotAuthorized)
    expect(() => sessions.credentialsFor(id, 'dora')).toThrow(NotFound)
  })
})

describe('removing a player from a session', () => {
  test.each(['no fault', 'response lost', 'request lost', 'server error', 'success without effect'] as const)(
    'removing a player from a relay session is complete once the revocation is confirmed, with the fault “%s”',
    async (fault) => {
      const { service, sessions, within } = setUp({
        faults: fault === 'no fault' ? [] : [{ operation: 'revokeUser', fault, times: 1 }],
      })
      const { id } = await within(sessions.open({ players }))
      const { sessionToken, userToken } = sessions.credentialsFor(id, 'bob')
      const session = await within(sessions.revoke(id, 'bob'))
      expect(session.id).toBe(id)
      expect(session.spent).toEqual([])
      expect(service.isValid(sessionToken, userToken)).toBe(false)
      expect(() => sessions.credentialsFor(id, 'bob')).toThrow(NotFound)
    },
  )

  test.each([
    ['400', new InvalidInput('no such user', { status: 400 })],
    ['409', new Conflict('conflict', { status: 409 })],
  ])('a player is removed from a relay session although the service answers %s', async (_, refusal) => {
    const { service, sessions, within } = setUp()
    const { id } = await within(sessions.open({ players }))
    const { sessionToken, userToken } = sessions.credentialsFor(id, 'bob')
    vi.spyOn(service, 'revokeUser').mockRejectedValue(refusal)
    const session = await within(sessions.revoke(id, 'bob'))
    expect(session.seats.map(({ id: player }) => player)).toEqual(['ann', 'cleo'])
    expect(service.isValid(sessionToken, userToken)).toBe(false)
    expect(service.open).toEqual([session.id])
  })

  test('a session without the removed player replaces a relay session if the revocation is not confirmed', async () => {
    const { service, sessions, within } = setUp({
      faults: [{ operation: 'revokeUser', fault: 'success without effect' }],
    })
    const { id } = await within(sessions.open({ players, hostId: 'ann' }))
    const { sessionToken, userToken } = sessions.credentialsFor(id, 'ann')
    const session = await within(sessions.revoke(id, 'ann'))
    expect(session.id).not.toBe(id)
    expect(session.hostId).toBe('bob')
    expect(session.seats.map(({ id: player }) => player)).toEqual(['bob', 'cleo'])
    expect(service.open).toEqual([session.id])
    expect(service.isValid(sessionToken, userToken)).toBe(false)
  })
})
