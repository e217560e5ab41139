import { describe, expect, test } from 'vitest'
import { relayState } from './packet.js'
import { session, toClient, toHost, trafficOf } from './traffic.fixture.js'

/** The connections of a session, with users, endpoints, roles and lifetimes. */

const { checking, valid, timedOut, error } = relayState

describe('a new source address of a user', () => {
  test('a relay user at a new source address continues the same connection after two seconds of silence', () => {
    const { first, host, pass } = session()
    const moved = first.at({ address: '203.0.113.50', port: 50_000 })
    pass(1999)
    expect(moved.ping()).toBe(checking)
    expect(moved.send('too early')).toEqual([])
    expect(host.send('to where it was', 1)).toEqual([toClient(first, 'to where it was')])
    pass(1)
    expect(moved.ping()).toBe(valid)
    expect(moved.send('moved')).toEqual([toHost(host, 1, 'moved')])
    expect(host.send('to where it is', 1)).toEqual([toClient(moved, 'to where it is')])
    expect(first.send('from where it was')).toEqual([])
  })

  test('a relay user at a new source address is refused while the old source address is active', () => {
    const { first, pass } = session()
    for (let passed = 0; passed < 5; passed++) {
      expect(first.send('here')).toHaveLength(1)
      expect(first.at({ port: 50_000 }).ping()).toBe(checking)
      pass(1000)
    }
  })

  test('a relay host at a new source address continues after two seconds of silence', () => {
    const { host, first, pass } = session()
    const moved = host.at({ port: 50_000 })
    pass(2000)
    expect(moved.ping()).toBe(valid)
    expect(first.send('hello')).toEqual([toHost(moved, 1, 'hello')])
  })

  test('new source addresses of two relay users at one address are never confused', () => {
    const { authorized, host } = session()
    const third = authorized(3, 'client').at({ address: '203.0.113.7', port: 1000 })
    const fourth = authorized(4, 'client').at({ address: '203.0.113.7', port: 1001 })
    expect([third.ping(), fourth.ping()]).toEqual([valid, valid])
    expect([...third.send('three'), ...fourth.send('four')]).toEqual([
      toHost(host, 3, 'three'),
      toHost(host, 4, 'four'),
    ])
  })
})

describe('silence of a relay peer', () => {
  test('after ten seconds of silence the connection of a relay peer ends, and the peer gets a new connection', () => {
    const { first, host, second, pass, connected } = session()
    for (let passed = 0; passed < 10; passed++) {
      expect(host.ping()).toBe(valid)
      expect(second.ping()).toBe(valid)
      expect(connected()).toBe(3)
      pass(1000)
    }
    expect(connected()).toBe(2)
    expect(host.send('anyone there?', 1)).toEqual([])
    expect(first.send('late')).toEqual([])
    expect(first.ping()).toBe(valid)
    expect(first.send('again')).toEqual([toHost(host, 3, 'again')])
    expect(host.send('to whom it was', 1)).toEqual([])
  })

  test('a relay peer that sends data but no ping stays connected', () => {
    const { first, host, pass } = session()
    for (let passed = 0; passed < 12; passed++) {
      expect(first.send('here')).toHaveLength(1)
      expect(host.send('there', 1)).toHaveLength(1)
      pass(1000)
    }
  })

  test('relay clients are notified of a host silent for ten seconds, until a host connects', () => {
    const { first, host, second, pass, authorized } = session()
    for (let passed = 0; passed < 10; passed++) {
      expect(first.ping()).toBe(valid)
      pass(1000)
    }
    expect(first.ping()).toBe(timedOut)
    expect(first.send('to whom?')).toEqual([])
    const successor = authorized(9, 'server')
    expect(successor.ping()).toBe(valid)
    expect(first.ping()).toBe(valid)
    expect(first.send('to you')).toEqual([toHost(successor, 1, 'to you')])
    expect(host.ping()).toBe(error)
    expect(second.ping()).toBe(valid)
  })

  test('the clients of a revoked relay host time out at once', () => {
    const { traffic, host, first } = session()
    traffic.revoke(host.token)
    expect(first.ping()).toBe(timedOut)
  })

  test('the silence of a relay host is not counted before a host connected', () => {
    const { authorized, pass } = trafficOf()
    const client = authorized(1, 'client')
    expect(client.ping()).toBe(valid)
    pass(9000)
    expect(client.ping()).toBe(valid)
    pass(9000)
    expect(client.ping()).toBe(valid)
  })
})

describe('roles in a relay session', () => {
  test('a relay session allows one host while it is alive', () => {
    const { first, host, authorized, pass, user } = session()
    const rival = authorized(5, 'server')
    expect(rival.ping()).toBe(error)
    pass(9999)
    expect(rival.ping()).toBe(error)
    expect(user(first.token, 'server').ping()).toBe(error)
    pass(1)
    expect(rival.ping()).toBe(valid)
    expect(host.ping()).toBe(error)
  })

  test('a relay user cannot change between the roles host and client', () => {
    const { user, host, first, counters } = session()
    expect(user(host.token, 'client').ping()).toBe(error)
    expect(user(first.token, 'server').ping()).toBe(error)
    expect(first.send('as before')).toEqual([toHost(host, 1, 'as before')])
    expect(counters.answered).toBe(5)
  })
})
