import { describe, expect, test } from 'vitest'
import { encodeMmdb } from './mmdb.fixture.js'
import { openMmdb } from './mmdb-file.js'

const networks = {
  '1.2.3.0/24': { name: 'first', list: [1, 2.5, true], nested: { name: 'first' } },
  '9.0.0.0/8': { name: 'ninth' },
  '200.1.2.128/25': { name: 'half' },
}
const alsoIpv6 = { ...networks, '2001:db8:1::/48': { name: 'six' }, '2001:db8:2::/48': { name: 'seven' } }

describe.each([24, 28, 32] as const)('an MMDB file with records of %i bits', (recordSize) => {
  test('an MMDB file with an IPv4 tree resolves IPv4 addresses, for any record size', () => {
    const { lookup } = openMmdb(encodeMmdb({ networks, ipVersion: 4, recordSize }), 'test')
    expect(lookup('1.2.3.0')).toEqual(networks['1.2.3.0/24'])
    expect(lookup('1.2.3.255')).toEqual(networks['1.2.3.0/24'])
    expect(lookup('9.255.0.1')).toEqual({ name: 'ninth' })
    expect(lookup('200.1.2.200')).toEqual({ name: 'half' })
    expect(['1.2.2.255', '1.2.4.0', '10.0.0.1', '200.1.2.127', '0.0.0.0', '255.255.255.255'].map(lookup)).toEqual(
      Array(6).fill(undefined),
    )
  })

  test('an MMDB file with an IPv6 tree resolves IPv6 and IPv4 addresses, for any record size', () => {
    const { lookup } = openMmdb(encodeMmdb({ networks: alsoIpv6, recordSize }), 'test')
    expect(lookup('9.1.1.1')).toEqual({ name: 'ninth' })
    expect(lookup('2001:db8:1::5')).toEqual({ name: 'six' })
    expect(lookup('2001:db8:2:ffff::')).toEqual({ name: 'seven' })
    expect(['10.0.0.1', '2001:db8:3::', '2001:db8::', 'ffff::'].map(lookup)).toEqual(Array(4).fill(undefined))
  })
})

test('an IPv6 address is unknown to an IPv4 tree, even if its first bits match a known address', () => {
  const { lookup } = openMmdb(encodeMmdb({ networks: { '32.1.13.0/24': { name: 'not you' } }, ipVersion: 4 }), 'test')
  expect(lookup('32.1.13.184')).toEqual({ name: 'not you' })
  expect(lookup('2001:db8::1')).toBeUndefined()
})

test('the first records of an MMDB file are listed in order of address', () => {
  const ipv4 = openMmdb(encodeMmdb({ networks, ipVersion: 4 }), 'test')
  expect(ipv4.firstRecords(1000).map((record) => (record as { name: string }).name)).toEqual(['first', 'ninth', 'half'])
  expect(ipv4.firstRecords(3)).toEqual([])
  expect(openMmdb(encodeMmdb({ networks: alsoIpv6 }), 'test').firstRecords(1000)).toHaveLength(5)
})

test('the database type of an MMDB file can be read', () => {
  expect(openMmdb(encodeMmdb({ networks, metadata: { database_type: 'GeoLite2-City' } }), 'test').type).toBe(
    'GeoLite2-City',
  )
})

describe('a corrupt MMDB file', () => {
  const whole = encodeMmdb({ networks: alsoIpv6 })
  const metadataAt = whole.lastIndexOf('MaxMind.com') - 3

  test.each([
    ['empty', Buffer.alloc(0), 'no MMDB metadata'],
    ['not an MMDB file', Buffer.from('<!doctype html>'.repeat(100)), 'no MMDB metadata'],
    ['cut off at the end', whole.subarray(0, metadataAt), 'no MMDB metadata'],
    ['cut off within the metadata', whole.subarray(0, metadataAt + 60), 'offset'],
    [
      'with a part missing in the middle',
      Buffer.concat([whole.subarray(0, 70), whole.subarray(200)]),
      'a part of the file is missing',
    ],
    ['only metadata', whole.subarray(metadataAt), 'a part of the file is missing'],
    [
      'a later format version',
      encodeMmdb({ networks, metadata: { binary_format_major_version: 3 } }),
      'format version must be 2, got 3',
    ],
    [
      'an unknown IP version',
      encodeMmdb({ networks, metadata: { ip_version: 5 } }),
      'IP version must be 4 or 6, got 5',
    ],
    ['an unsupported record size', encodeMmdb({ networks, metadata: { record_size: 20 } }), 'record size'],
    ['an empty tree', encodeMmdb({ networks, metadata: { node_count: 0 } }), 'tree is empty'],
    ['a tree size that is not a number', encodeMmdb({ networks, metadata: { node_count: 'many' } }), 'tree is empty'],
  ])('a corrupt MMDB file is refused with its fault: %s', (_, bytes, reason) => {
    expect(() => openMmdb(bytes, '/data/city.mmdb')).toThrow('cannot read /data/city.mmdb: ')
    expect(() => openMmdb(bytes, '/data/city.mmdb')).toThrow(reason)
  })

  test('a lookup in a corrupt MMDB file throws an error that does not show the address', () => {
    const bytes = Buffer.from(whole)
    // The first record of the data gets an unknown extended type.
    bytes.set([0, 0], bytes.indexOf('name') - 2)
    const { lookup } = openMmdb(bytes, '/data/city.mmdb')
    const failure = (() => {
      try {
        return lookup('1.2.3.4')
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).toContain('cannot read /data/city.mmdb: ')
    expect(String(failure)).not.toContain('1.2.3.4')
    expect(lookup('10.0.0.1')).toBeUndefined()
  })
})
