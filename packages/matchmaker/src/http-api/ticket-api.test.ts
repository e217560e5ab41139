import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'

describe('POST /server-ready', () => {
  test('POST /server-ready accepts the secret of the server’s match and no other token', async () => {
    const { call } = setUp()
    const ready = async (secret: string | undefined, match_id: string) =>
      (await call(secret, 'POST', '/server-ready', { match_id })).status
    expect(await Promise.all([ready('hush', 'm1'), ready('Bearer hush', 'm1')])).toEqual([204, 204])
    expect(
      await Promise.all([ready('loud', 'm1'), ready('hush', 'm2'), ready(undefined, 'm1'), ready('backend', 'm1')]),
    ).toEqual([403, 403, 403, 403])
  })
})

describe('the ticket API as a whole', () => {
  test('the ticket API serves its OpenAPI document below its base path', async () => {
    const { call } = setUp({ basePath: '/mm' })
    const { json } = await call(undefined, 'GET', '/mm/openapi.json')
    const document = json as { openapi: string; paths: Record<string, object>; components: { schemas: object } }
    expect(document.openapi).toBe('3.1.1')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/mm/tickets', '/mm/tickets/{ticket_id}/events', '/mm/groups/{group_id}/members']),
    )
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Ticket', 'Assignment', 'Group', 'Member', 'Backfill', 'Problem']),
    )
  })

  test('the monitor route names unhealthy components, and checks them at most once a second', async () => {
    const { call, service, clock } = setUp({ beacons: () => Promise.reject(new Error('down')) })
    expect((await call(undefined, 'GET', '/monitor')).json).toEqual({
      status: 'healthy',
      healthy_components: 3,
      unhealthy_components: 0,
      message: 'all is well',
    })
    await call('ann', 'GET', '/locations/beacons')
    service.pausedUntil = clock.now() + 5000
    expect((await call(undefined, 'GET', '/monitor')).json).toMatchObject({
      unhealthy_components: 1,
      message: 'unhealthy: beacons',
    })
    expect(service.looks).toBe(1)
    await clock.advance(1000)
    expect((await call(undefined, 'GET', '/monitor')).json).toEqual({
      status: 'unhealthy',
      healthy_components: 1,
      unhealthy_components: 2,
      message: 'unhealthy: deployments, beacons',
    })
    service.pausedUntil = undefined
    service.blockedBy = 'unstoppable'
    await clock.advance(1000)
    expect((await call(undefined, 'GET', '/monitor')).json).toMatchObject({
      message: 'unhealthy: deployments, beacons',
    })
    service.blockedBy = 'maxServers'
    await clock.advance(1000)
    expect((await call(undefined, 'GET', '/monitor')).json).toMatchObject({ message: 'unhealthy: beacons' })
  })

  test('the monitor route reports paused deployments by the wall clock, not by the process clock', async () => {
    const { call, service, clock } = setUp()
    const behindMs = 7_200_000
    Object.assign(service, { dateOf: (at = clock.now() - behindMs) => at + behindMs })
    service.pausedUntil = clock.now() - behindMs + 5000
    expect((await call(undefined, 'GET', '/monitor')).json).toMatchObject({ message: 'unhealthy: deployments' })
  })
})
