import { expect, test } from 'vitest'
import { corsHeaders } from './cors.js'

const allows = (listed: string, origin: string) =>
  'access-control-allow-origin' in
  corsHeaders({ origins: [listed] }, new Request('https://api.example', { headers: { origin } }))

test.each([
  ['https://play.example.com', 'https://play.example.com', 'can'],
  ['https://play.example.com', 'https://other.example.com', 'cannot'],
  ['http://localhost:*', 'http://localhost:5173', 'can'],
  ['http://localhost:*', 'http://localhost', 'can'],
  ['https://*.example.com', 'https://play.example.com', 'can'],
  ['https://*.example.com', 'https://a.b-2.example.com', 'can'],
  ['https://*.example.com:*', 'https://play.example.com:8443', 'can'],
  ['https://*.example.com', 'https://play.example.com:8443', 'cannot'],
  ['https://*.example.com', 'https://example.com', 'cannot'],
  ['https://*.example.com', 'http://play.example.com', 'cannot'],
  ['https://*.example.com', 'https://evilexample.com', 'cannot'],
  ['https://*.example.com', 'https://.example.com', 'cannot'],
  ['https://*.example.com', 'https://evil.com/.example.com', 'cannot'],
  ['https://*.example.com', 'https://user@evil.example.com', 'cannot'],
  ['https://*.example.com', 'https://play.example.com.evil.com', 'cannot'],
  ['*', 'https://any.where', 'can'],
])('with allowedOrigins %s, a page of %s %s call the API', (listed, origin, may) => {
  expect(allows(listed, origin)).toBe(may === 'can')
})
