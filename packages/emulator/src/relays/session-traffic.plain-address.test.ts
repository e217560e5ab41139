import { expect, test } from 'vitest'
import { isLoopback, plainAddress } from './session-traffic.js'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
])('plainAddress writes the address %s as %s', (text, plain) => {
  expect(plainAddress(text)).toBe(plain)
})

test.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['128.0.0.1', false],
  ['::2', false],
])('isLoopback returns for the address %s: %s', (text, loopback) => {
  expect(isLoopback(plainAddress(text))).toBe(loopback)
})
