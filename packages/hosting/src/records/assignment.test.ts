import { describe, expect, test } from 'vitest'
import { assignmentAt, assignmentOf } from './assignment.js'

const ready = { request_id: 'r', current_status: 'Status.READY' }

test('a server without an fqdn is reached by its address, and a server without fqdn and address not at all', () => {
  expect(assignmentOf({ ...ready, public_ip: '203.0.113.9' })).toMatchObject({
    fqdn: '203.0.113.9',
    publicIp: '203.0.113.9',
    ports: {},
  })
  expect(assignmentOf({ ...ready, fqdn: 'a.example.com' })).toMatchObject({
    fqdn: 'a.example.com',
    publicIp: undefined,
  })
  expect(assignmentOf({ ...ready, fqdn: '', public_ip: null })).toBeUndefined()
})

test('a port in an assignment may lack its internal port, protocol and link', () => {
  expect(assignmentOf({ ...ready, fqdn: 'a', ports: { game: { external: 3, link: null } } })?.ports).toEqual({
    game: { internal: undefined, external: 3, protocol: undefined, link: undefined },
  })
})

test('the link of a port has brackets around an IPv6 address, which otherwise runs into the port', () => {
  const linkAt = (host: string) => assignmentAt(host, { game: { port: 7777 } }, undefined).ports['game']?.link
  expect(linkAt('2001:db8::5')).toBe('[2001:db8::5]:7777')
  expect(linkAt('203.0.113.9')).toBe('203.0.113.9:7777')
  expect(linkAt('a.example.com')).toBe('a.example.com:7777')
})

describe('coordinates given as strings', () => {
  test.each([
    ['59.9', 59.9],
    [59.9, 59.9],
    [0, 0],
    ['0', 0],
    ['', undefined],
    ['north', undefined],
    [null, undefined],
  ])('coordinates that the service sends as strings are read as numbers if valid: %j', (latitude, expected) => {
    expect(assignmentOf({ ...ready, fqdn: 'a', location: { latitude } })?.location?.latitude).toBe(expected)
  })
})
