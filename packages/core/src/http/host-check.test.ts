import { expect, test } from 'vitest'
import { createHostCheck } from './host-check.js'

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
])('%j is served', (host) => {
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
])('%j is refused', (host) => {
  expect(served(host)).toBe(false)
})

test.each(['', 'a:80', 'http://a', 7])('%j is refused as an option', (name) => {
  expect(() => createHostCheck([name as string])).toThrow(
    `allowedHosts must be host names without a port, got ${JSON.stringify(name)}`,
  )
})
