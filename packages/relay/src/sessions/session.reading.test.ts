import { expect, test } from 'vitest'
import { readingOf } from './session.js'

const ports = { server: { port: 1, protocol: 'UDP', link: 'a:1' }, client: { port: 2 } }
const full = {
  session_id: 's',
  authorization_token: 3500589645,
  ready: true,
  status: 'Whatever',
  session_users: [{ ip_address: '::ffff:192.0.2.1', authorization_token: 0xffff_ffff }],
  relay: { ip: '203.0.113.7', host: 'relay.example', ports },
}

test('both relay session formats of the specification are read in the same way', () => {
  const { session_users, ...rest } = full
  const reading = readingOf(full)
  expect(reading).toEqual({
    id: 's',
    ready: true,
    failed: false,
    link: {
      host: 'relay.example',
      ip: '203.0.113.7',
      server: { port: 1, protocol: 'UDP', link: 'a:1' },
      client: { port: 2, protocol: 'UDP', link: undefined },
      token: 3500589645,
    },
    users: [{ ip: '192.0.2.1', token: 0xffff_ffff }],
    webhookUrl: undefined,
  })
  expect(readingOf({ ...rest, session_user: session_users[0] })).toEqual(reading)
})

test.each([
  ['a token', { authorization_token: null }],
  ['a relay', { relay: null }],
  ['a host', { relay: { ports } }],
  ['a port', { relay: { host: 'relay.example', ports: { server: ports.server } } }],
])('a relay session without %s has no link', (_, without) => {
  expect(readingOf({ ...full, ...without }).link).toBeUndefined()
})

test('the IP address of a relay replaces a missing host name', () => {
  expect(readingOf({ ...full, relay: { ip: '203.0.113.7', ports } }).link?.host).toBe('203.0.113.7')
})

test('relay users without an address or a token are left out', () => {
  const session_users = [
    { ip_address: 'localhost', authorization_token: 1 },
    { ip_address: '192.0.2.1' },
    { authorization_token: 2 },
  ]
  expect(readingOf({ ...full, session_users }).users).toEqual([])
})

test('a relay session with a non-empty error has failed, regardless of its other fields', () => {
  expect(readingOf({ ...full, error: 'no capacity' }).failed).toBe(true)
  expect(readingOf({ ...full, error: '' }).failed).toBe(false)
})
