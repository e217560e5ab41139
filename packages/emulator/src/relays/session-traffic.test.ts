import { describe, expect, test } from 'vitest'
import { pingPacket, relayState } from './packet.js'
import { session, sessionToken, toHost, toClient, trafficOf } from './traffic.fixture.js'

const { checking, valid, invalid } = relayState

describe('data in a relay session', () => {
  test('relay data goes from clients to the host, and from the host to the client that it names', () => {
    const { host, first, second, counters } = session()
    expect(first.send('from first')).toEqual([toHost(host, 1, 'from first')])
    expect(second.send('from second')).toEqual([toHost(host, 2, 'from second')])
    expect(host.send('for second', 2)).toEqual([toClient(second, 'for second')])
    expect(host.send('for first', 1)).toEqual([toClient(first, 'for first')])
    expect(first.send('')).toEqual([toHost(host, 1, '')])
    expect(counters).toMatchObject({ received: 8, answered: 3, relayed: 5, relayedBytes: 40 })
  })

  test('relay data passes only if both ends are connected', () => {
    const { authorized, counters } = trafficOf()
    const host = authorized(1, 'server')
    const client = authorized(2, 'client')
    expect(client.send('before it has pinged')).toEqual([])
    expect(client.ping()).toBe(valid)
    expect(client.send('before there is a host')).toEqual([])
    expect(host.ping()).toBe(valid)
    expect(host.send('to nobody', 2)).toEqual([])
    expect(host.send('to itself', 0)).toEqual([])
    expect(client.send('now')).toHaveLength(1)
    expect(counters.dropped).toMatchObject({ notConnected: 1, noHost: 1, noClient: 2 })
  })

  test("relay data is accepted only at the port of its sender's role and from its source", () => {
    const { user, first, host, counters } = session()
    expect(user(host.token, 'client', host.from).send('as a client')).toEqual([])
    expect(user(first.token, 'server', first.from).send('as the host', 2)).toEqual([])
    expect(first.at({ port: 50_000 }).send('from elsewhere')).toEqual([])
    expect(first.at({ address: '198.51.100.9' }).send('from elsewhere')).toEqual([])
    expect(counters.dropped.notConnected).toBe(4)
  })
})

describe('tokens in a relay session', () => {
  test('wrong relay tokens are answered as invalid', () => {
    const { user, first, counters } = session()
    expect(user(77, 'client').ping()).toBe(invalid)
    expect(first.ping(sessionToken - 1)).toBe(invalid)
    expect(user(77, 'client').send('data')).toEqual([])
    expect(counters.dropped.invalidToken).toBe(3)
  })

  test('a relay token is invalid after its user is revoked, and no data passes to or from that user', () => {
    const { traffic, first, second, host } = session()
    traffic.revoke(first.token)
    expect(first.ping()).toBe(invalid)
    expect(first.send('still here')).toEqual([])
    expect(host.send('for first', 1)).toEqual([])
    expect(second.send('unmoved')).toEqual([toHost(host, 2, 'unmoved')])
  })

  test('a relay user who is authorized again has another connection id', () => {
    const { traffic, first, host } = session()
    traffic.revoke(first.token)
    traffic.authorize({ token: first.token, ip: '198.51.100.1' })
    expect(first.send('too early')).toEqual([])
    expect(first.ping()).toBe(valid)
    expect(first.send('back')).toEqual([toHost(host, 3, 'back')])
    expect(host.send('for the one before', 1)).toEqual([])
  })

  test('revoking an unknown relay token has no effect', () => {
    const { traffic, first } = session()
    traffic.revoke(12_345)
    expect(first.ping()).toBe(valid)
  })

  test('a flood of wrong relay tokens gets few answers, while other sessions get theirs', () => {
    const { user, host, first, receive, counters, pass } = session()
    const flood = (address: string) => Array.from({ length: 50 }, () => user(99, 'client', { address, port: 1 }).ping())
    expect(flood('203.0.113.1').filter((state) => state === invalid)).toHaveLength(5)
    const others = ['203.0.113.2', '203.0.113.3', '203.0.113.4', '203.0.113.5'].flatMap(flood)
    expect(others.filter((state) => state === invalid)).toHaveLength(15)
    expect(others.filter((state) => state !== undefined && state !== invalid)).toEqual([])
    expect(first.send('on')).toEqual([toHost(host, 1, 'on')])
    expect(receive('client', pingPacket(first.token, sessionToken), first.from)).toMatchObject([
      { packet: { state: valid } },
    ])
    expect(counters.dropped.invalidToken).toBe(250)
    pass(1000)
    expect(user(99, 'client', { address: '203.0.113.1', port: 1 }).ping()).toBe(invalid)
  })
})

describe('an authorization that takes time', () => {
  test('no data passes to or from a relay peer until its authorization is complete', () => {
    const { authorized, pass } = trafficOf({ authDelayMs: 1500 })
    const host = authorized(1, 'server')
    const client = authorized(2, 'client')
    expect(host.ping()).toBe(checking)
    pass(500)
    expect(client.ping()).toBe(checking)
    pass(1000)
    expect(host.ping()).toBe(valid)
    expect(client.ping()).toBe(checking)
    expect(client.send('too early')).toEqual([])
    expect(host.send('too early', 1)).toEqual([])
    pass(500)
    expect(client.send('in time')).toEqual([toHost(host, 1, 'in time')])
    expect(host.send('in time', 1)).toEqual([toClient(client, 'in time')])
  })

  test('a slow relay authorization refuses wrong tokens at once', () => {
    expect(trafficOf({ authDelayMs: 1500 }).user(1, 'client').ping()).toBe(invalid)
  })
})

describe('rates of packets', () => {
  const burst = (send: () => readonly unknown[], count: number) => Array.from({ length: count }, send).flat().length

  test('relay packets are rate-limited per user', () => {
    const { first, second, counters, pass } = session({ userPacketsPerSecond: 10 })
    expect(burst(() => first.send('x'), 50)).toBe(10)
    expect(burst(() => second.send('x'), 5)).toBe(5)
    expect(counters.dropped.userRate).toBe(40)
    pass(500)
    expect(burst(() => first.send('x'), 50)).toBe(5)
  })

  test('relay packets are rate-limited per session', () => {
    const { first, second, host, counters } = session({ userPacketsPerSecond: 10, sessionPacketsPerSecond: 16 })
    expect(burst(() => first.send('x'), 10)).toBe(10)
    expect(burst(() => host.send('x', 2), 10)).toBe(6)
    expect(burst(() => second.send('x'), 10)).toBe(0)
    expect(counters.dropped.sessionRate).toBe(14)
  })

  test('relay packets over the limit keep the connection, and pings have their own limit', () => {
    const { first, counters, pass } = session({ userPacketsPerSecond: 10 })
    expect(burst(() => first.send('x'), 100)).toBe(10)
    expect(first.ping()).toBe(valid)
    const answers = Array.from({ length: 100 }, () => first.ping()).filter((state) => state === valid)
    expect(answers).toHaveLength(18)
    expect(counters.dropped.userRate).toBe(90 + 82)
    pass(1000)
    expect(first.ping()).toBe(valid)
  })
})

describe('pinned sources', () => {
  const pinned = () => {
    const made = trafficOf({ pinSource: true })
    return { ...made, client: made.authorized(1, 'client', '::ffff:198.51.100.1') }
  }

  test('with pinned sources a relay user connects from its own address in any spelling', () => {
    const { client } = pinned()
    expect(client.at({ address: '203.0.113.1' }).ping()).toBe(invalid)
    expect(client.ping()).toBe(valid)
    const written = trafficOf({ pinSource: true }).authorized(1, 'client', '2001:DB8:0:0:0:0:0:1')
    expect(written.at({ address: '2001:db8::1' }).ping()).toBe(valid)
  })

  test('with pinned sources a relay user can connect from no other address', () => {
    const { client, pass } = pinned()
    expect(client.ping()).toBe(valid)
    pass(5000)
    expect(client.at({ address: '203.0.113.1' }).ping()).toBe(invalid)
    expect(client.at({ port: 50_000 }).ping()).toBe(valid)
  })

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('pinned relay sources do not apply to %s', (address) => {
    expect(pinned().client.at({ address }).ping()).toBe(valid)
  })

  test('relay sources are pinned only if the option is set', () => {
    expect(trafficOf().authorized(1, 'client').at({ address: '203.0.113.1' }).ping()).toBe(valid)
  })
})

test('relay datagrams that are not packets or come from port 0 are counted and not answered', () => {
  const { receive, first, counters } = session()
  const junk = [Buffer.alloc(0), Buffer.alloc(8), Buffer.alloc(1201, 2), Buffer.from('GET / HTTP/1.1\r\n\r\n')]
  for (const datagram of junk) expect(receive('client', datagram, first.from)).toEqual([])
  expect(receive('client', pingPacket(first.token, sessionToken), { ...first.from, port: 0 })).toEqual([])
  expect(counters.dropped.malformed).toBe(5)
})
