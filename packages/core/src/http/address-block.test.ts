import { expect, test } from 'vitest'
import { addressBlock, addressBlocks } from './address-block.js'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
])('the address %s counts as %s', (address, block) => {
  expect(addressBlock(address)).toBe(block)
})

test.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:1:23ff::1', ['2001:db8:1:23ff::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48']],
  ['fe80::1%eth0', ['fe80::1%eth0']],
])('the address %s lies in %j', (address, blocks) => {
  expect(addressBlocks(address)).toEqual(blocks)
})
