import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressBlock, addressBlocks, addressPrefix, canonicalIp, isPublicIp } from './ip.js'

const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
const ipv4 = octets.map((parts) => parts.join('.'))
/** Mostly zeros, so that `::` occurs. */
const sparse = fc.array(fc.constantFrom(0, 0, 0, 1, 0xff, 0xabcd), { minLength: 8, maxLength: 8 })
const full = (parts: readonly number[]) => parts.map((part) => part.toString(16).padStart(4, '0')).join(':')

describe('canonicalIp', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['0.0.0.0', '0.0.0.0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001:0', '2001:db8::1:0'],
    ['::', '::'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    ['::192.0.2.1', '::c000:201'],
  ])('canonicalIp writes the address %s as %s', (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical)
  })

  test.each([
    '',
    '1',
    '1.2.3',
    '127.1',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.-4',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '010.0.0.1',
    '0x7f.0.0.1',
    '1e1.0.0.1',
    '١.٢.٣.٤',
    '1.2.3.4:80',
    '1.2.3.4/24',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::1',
    'fe80::1%eth0',
    '[::1]',
    '::1/64',
    '::ffff:010.0.0.1',
    '::ffff:0x1.2.3.4',
    '::1.2.3',
    '::ffff:1.2.3.4%1',
    'localhost',
    'example.com',
  ])('canonicalIp returns undefined for %j, which is not an address', (text) => {
    expect(canonicalIp(text)).toBeUndefined()
  })

  test('canonicalIp gives one form for every spelling of an address', () => {
    fc.assert(
      fc.property(fc.oneof(groups, sparse), (parts) => {
        const canonical = canonicalIp(full(parts))
        const short = parts.map((part) => part.toString(16)).join(':')
        const [g, h] = parts.slice(6) as [number, number]
        const dotted = `${full(parts.slice(0, 6))}:${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`
        expect([short, short.toUpperCase(), dotted, canonical].map((text) => canonicalIp(text as string))).toEqual(
          Array(4).fill(canonical),
        )
      }),
    )
    fc.assert(
      fc.property(ipv4, (ip) => {
        expect([canonicalIp(ip), canonicalIp(`::ffff:${ip}`)]).toEqual([ip, ip])
      }),
    )
  })

  test('canonicalIp agrees with URL.hostname on IPv6 addresses', () => {
    fc.assert(
      fc.property(fc.oneof(groups, sparse), (parts) => {
        fc.pre(!full(parts).startsWith('0000:0000:0000:0000:0000:ffff'))
        expect(`[${canonicalIp(full(parts))}]`).toBe(new URL(`http://[${full(parts)}]`).hostname)
      }),
    )
  })

  test('canonicalIp accepts exactly what node:net accepts, except zone ids', () => {
    const pieces = fc.constantFrom(
      '0',
      '1',
      '01',
      '255',
      '256',
      'ab',
      'ffff',
      '10000',
      '0x1',
      '.',
      '.',
      ':',
      ':',
      '::',
      '%e',
      ' ',
      '1.2.3.4',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
        (text) => {
          expect(canonicalIp(text) !== undefined).toBe(isIP(text) !== 0 && !text.includes('%'))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('isPublicIp', () => {
  test.each(['8.8.8.8', '100.63.255.255', '172.32.0.1', '2001:4860:4860::8888', '2a01:4f8::1', '::ffff:8.8.8.8'])(
    'isPublicIp is true for the public address %s',
    (ip) => {
      expect(isPublicIp(ip)).toBe(true)
    },
  )

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.1.1',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::ffff:10.0.0.1',
    '::',
    '::1',
    '::8.8.8.8',
    '64:ff9b::808:808',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    'e000::1',
    'not an address',
  ])('isPublicIp is false for the private or reserved address %s', (ip) => {
    expect(isPublicIp(ip)).toBe(false)
  })
})

describe('addressPrefix', () => {
  test.each([
    ['203.0.113.9', '203.0.0.0/16'],
    ['::ffff:203.0.113.9', '203.0.0.0/16'],
    ['2a01:4f8:1:2:3:4:5:6', '2a01:4f8::/32'],
    ['example.com', undefined],
  ])('addressPrefix of %s has the default length: %s', (ip, prefix) => {
    expect(addressPrefix(ip)).toBe(prefix)
  })

  test('addressPrefix can have a length within a byte', () => {
    expect(addressPrefix('203.0.113.255', { ipv4: 22, ipv6: 48 })).toBe('203.0.112.0/22')
    expect(addressPrefix('2a01:4f8:abcd:ffff::1', { ipv4: 22, ipv6: 53 })).toBe('2a01:4f8:abcd:f800::/53')
  })

  test('addressPrefix is the same for two addresses exactly when their leading bits are the same', () => {
    fc.assert(
      fc.property(
        octets,
        octets,
        fc.integer({ min: 0, max: 32 }),
        fc.integer({ min: 0, max: 32 }),
        (a, b, common, length) => {
          const bits = (parts: readonly number[]) => parts.map((part) => part.toString(2).padStart(8, '0')).join('')
          const mixed = bits(a).slice(0, common) + bits(b).slice(common)
          const mixedIp = [0, 8, 16, 24].map((at) => Number.parseInt(mixed.slice(at, at + 8), 2)).join('.')
          const lengths = { ipv4: length, ipv6: 48 }
          const same = addressPrefix(a.join('.'), lengths) === addressPrefix(mixedIp, lengths)
          expect(same).toBe(bits(a).slice(0, length) === mixed.slice(0, length))
        },
      ),
    )
  })

  test('addressPrefix is unchanged when applied twice', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 0, max: 128 }), (parts, length) => {
        fc.pre(!full(parts).startsWith('0000:0000:0000:0000:0000:ffff'))
        const lengths = { ipv4: 16, ipv6: length }
        const prefix = addressPrefix(full(parts), lengths) as string
        expect(addressPrefix(prefix.split('/')[0] as string, lengths)).toBe(prefix)
      }),
    )
  })

  test.each([-1, 33, 1.5, Number.NaN])('addressPrefix refuses a length of %s', (ipv4Length) => {
    expect(() => addressPrefix('203.0.113.9', { ipv4: ipv4Length, ipv6: 48 })).toThrow(RangeError)
    expect(() => addressPrefix('203.0.113.9', { ipv4: ipv4Length, ipv6: 48 })).toThrow(
      'prefix length ipv4 must be an integer from 0 to 32',
    )
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
])('addressBlock of %s, which shares a rate limit, is %s', (address, block) => {
  expect(addressBlock(address)).toBe(block)
})

test.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:1:23ff::1', ['2001:db8:1:23ff::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48']],
  ['fe80::1%eth0', ['fe80::1%eth0']],
])('addressBlocks lists the networks of %s that have a share of connections: %j', (address, blocks) => {
  expect(addressBlocks(address)).toEqual(blocks)
})
