import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bearerToken, clientAddress, createHostCheck } from './request-headers.js'

describe('the client address', () => {
  const from = (forwarded?: string) =>
    new Request('http://localhost/', { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } })

  test('the client address is the canonical address of the socket, and headers are ignored', () => {
    const addressOf = clientAddress()
    expect(addressOf(from('198.51.100.1'), { remoteAddress: '::ffff:192.0.2.1' })).toBe('192.0.2.1')
    expect(addressOf(from(), { remoteAddress: '2001:DB8::1' })).toBe('2001:db8::1')
    expect(addressOf(from('198.51.100.1'), {})).toBeUndefined()
  })

  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['203.0.113.66, 198.51.100.1', '198.51.100.1'],
    ['198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['10.9.9.9', '10.9.9.9'],
    [undefined, '10.0.0.1'],
    ['unknown', undefined],
  ])('X-Forwarded-For %j from a trusted proxy gives the client address %j', (forwarded, address) => {
    const addressOf = clientAddress({ trustedProxies: ['10.0.0.0/8', 'fd00::/8'] })
    expect(addressOf(from(forwarded), { remoteAddress: '::ffff:10.0.0.1' })).toBe(address)
    expect(addressOf(from(forwarded), { remoteAddress: 'fd00::1' })).toBe(forwarded === undefined ? 'fd00::1' : address)
  })

  test('trusted proxies can give the client address in another header', () => {
    const addressOf = clientAddress({ trustedProxies: ['10.0.0.0/8'], header: 'x-real-ip' })
    const headers = { 'x-real-ip': '198.51.100.1', 'x-forwarded-for': '203.0.113.66' }
    const request = new Request('http://localhost/', { headers })
    expect(addressOf(request, { remoteAddress: '10.0.0.1' })).toBe('198.51.100.1')
    expect(addressOf(request, { remoteAddress: '192.0.2.1' })).toBe('192.0.2.1')
  })

  test.each([
    ['for=198.51.100.1', '198.51.100.1'],
    ['For="198.51.100.1:4711";proto=https;by=203.0.113.43', '198.51.100.1'],
    ['proto=https; for="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for=203.0.113.66, for=198.51.100.1', '198.51.100.1'],
    ['for=198.51.100.1, for="10.1.2.3"', '198.51.100.1'],
    ['for="a, for=203.0.113.66", for=198.51.100.1', '198.51.100.1'],
    ['for=198.51.100.1, proto=https', undefined],
    ['for=unknown', undefined],
    ['for=_hidden', undefined],
    ['for="198.51.100.1', undefined],
  ])('the Forwarded header %j gives the client address %j', (forwarded, address) => {
    const addressOf = clientAddress({ trustedProxies: ['10.0.0.0/8'], header: 'Forwarded' })
    const headers = { forwarded, 'x-forwarded-for': '203.0.113.9' }
    expect(addressOf(new Request('http://localhost/', { headers }), { remoteAddress: '10.0.0.1' })).toBe(address)
  })

  test('the client address is the address of the proxy if the proxy is not trusted', () => {
    const addressOf = clientAddress({ trustedProxies: ['10.0.0.0/8'] })
    expect(addressOf(from('198.51.100.1'), { remoteAddress: '192.0.2.1' })).toBe('192.0.2.1')
  })

  test('each request gets its own client address when requests of several proxies and clients alternate', () => {
    const networks = ['10.0.0.0/8', 'fd00::/8']
    const addressOf = clientAddress({ trustedProxies: networks })
    const ip = fc.constantFrom('10.0.0.1', '::ffff:10.0.0.1', 'fd00::1', '192.0.2.1', '2001:db8::1', 'no address')
    const requests = fc.array(fc.record({ forwarded: fc.option(ip, { nil: undefined }), remoteAddress: ip }))
    fc.assert(
      fc.property(requests, (all) => {
        for (const { forwarded, remoteAddress } of all) {
          // A new instance has seen no other request.
          const alone = clientAddress({ trustedProxies: networks })(from(forwarded), { remoteAddress })
          expect(addressOf(from(forwarded), { remoteAddress })).toBe(alone)
        }
      }),
    )
  })

  test('trustedProxies must be valid networks, and an invalid network is refused by name', () => {
    expect(() => clientAddress({ trustedProxies: ['10.0.0.1'] })).toThrow(
      'trustedProxies must hold networks such as 10.0.0.0/8 or ::1/128, got "10.0.0.1"',
    )
  })
})

describe('the check of the Host header', () => {
  const served = createHostCheck(['emulator', 'Dev.Example.com'])

  test.each([
    '127.0.0.1',
    '127.0.0.1:41233',
    '[::1]:80',
    '[::ffff:127.0.0.1]',
    '192.0.2.7:8080',
    'localhost',
    'LOCALHOST:1',
    'localhost.:80',
    'studio.localhost:80',
    'emulator:9000',
    'emulator.',
    'dev.example.com',
  ])('the Host header %j is accepted', (host) => {
    expect(served(host)).toBe(true)
  })

  test.each([
    undefined,
    '',
    'evil.example',
    'evil.example:41233',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    'evil.example/127.0.0.1',
    '127.0.0.1, evil.example',
    '127.0.0.1:80:80',
    '127.0.0.1:',
    '::1',
    '[localhost]',
    '[::1',
    'other.dev.example.com',
    '.localhost',
  ])('the Host header %j is refused', (host) => {
    expect(served(host)).toBe(false)
  })

  test.each(['', 'a:80', 'http://a', 7])('%j is not accepted as an allowed host', (name) => {
    expect(() => createHostCheck([name as string])).toThrow(
      `allowedHosts must be host names without a port, got ${JSON.stringify(name)}`,
    )
  })
})

describe('the bearer token', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc', 'abc'],
    ['abc.def', 'abc.def'],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer a b', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('the Authorization header %j has the bearer token %j', (authorization, token) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    expect(bearerToken(new Request('http://localhost/', { headers }))).toBe(token)
  })
})
