import { expect, test } from 'vitest'
import { corsHeaders } from './cors.js'

const allows = (listed: string, origin: string) =>
  'access-control-allow-origin' in
  corsHeaders({ origins: [listed] }, new Request('https://api.example', { headers: { origin } }))

test.each([
  ['https://play.example.com', 'https://play.example.com', true],
  ['https://play.example.com', 'https://other.example.com', false],
  ['http://localhost:*', 'http://localhost:5173', true],
  ['http://localhost:*', 'http://localhost', true],
  ['https://*.example.com', 'https://play.example.com', true],
  ['https://*.example.com', 'https://a.b-2.example.com', true],
  ['https://*.example.com:*', 'https://play.example.com:8443', true],
  ['https://*.example.com', 'https://play.example.com:8443', false],
  ['https://*.example.com', 'https://example.com', false],
  ['https://*.example.com', 'http://play.example.com', false],
  ['https://*.example.com', 'https://evilexample.com', false],
  ['https://*.example.com', 'https://.example.com', false],
  ['https://*.example.com', 'https://evil.com/.example.com', false],
  ['https://*.example.com', 'https://user@evil.example.com', false],
  ['https://*.example.com', 'https://play.example.com.evil.com', false],
  ['*', 'https://any.where', true],
])('with allowedOrigins %s, a page of %s can call the API: %s', (listed, origin, may) => {
  expect(allows(listed, origin)).toBe(may)
})
