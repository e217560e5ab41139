import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeMmdb } from './mmdb.fixture.js'
import { mmdbLocate } from './mmdb-locate.js'

const london = { latitude: 51.5, longitude: -0.12 }
const tokyo = { latitude: 35.68, longitude: 139.69 }
const database = (place: typeof london) =>
  encodeMmdb({
    networks: {
      '1.2.3.0/24': { location: { ...place, accuracy_radius: 20 } },
      '9.0.0.0/8': place,
      '192.0.2.0/24': { country: { iso_code: 'GB' } },
      '2001:db8::/32': place,
    },
  })
const inLondon = database(london)
const inTokyo = database(tokyo)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-locate-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('the MMDB lookup finds addresses in a file, in any spelling', async () => {
  const file = join(folder, 'city.mmdb')
  await writeFile(file, inLondon)
  const locate = mmdbLocate({ file })
  expect(locate('1.2.3.4')).toEqual({ ...london, accuracyKm: 20 })
  expect(locate('9.9.9.9')).toEqual(london)
  expect(locate('::ffff:9.9.9.9')).toEqual(london)
  expect(locate('2001:0DB8::9')).toEqual(london)
})

test.each([{ cacheSize: 0 }, { cacheSize: 1 }, {}])(
  'the MMDB lookup finds nothing for unknown and invalid addresses, even at a second lookup, with options %o',
  (options) => {
    const locate = mmdbLocate({ buffer: inLondon, ...options })
    const unknown = [
      '10.0.0.1',
      '192.0.2.7',
      '2001:db9::1',
      '::1',
      '',
      '1',
      '1.2.3',
      'example.com',
      '1.2.3.4 ',
      '1'.repeat(10_000),
    ]
    expect([...unknown, ...unknown].map(locate)).toEqual(Array(2 * unknown.length).fill(undefined))
    expect([locate('9.9.9.9'), locate('9.9.9.9')]).toEqual([london, london])
  },
)

test('the MMDB lookup caches the answer for an address', () => {
  const remembering = mmdbLocate({ buffer: inLondon })
  expect(remembering('9.9.9.9')).toBe(remembering('9.9.9.9'))
  const forgetful = mmdbLocate({ buffer: inLondon, cacheSize: 1 })
  const first = forgetful('9.9.9.9')
  forgetful('1.2.3.4')
  expect(forgetful('9.9.9.9')).toEqual(first)
  expect(forgetful('9.9.9.9')).not.toBe(first)
})

test('the MMDB lookup accepts a view into a larger buffer', () => {
  const larger = new Uint8Array(inLondon.length + 100)
  larger.set(inLondon, 50)
  expect(mmdbLocate({ buffer: larger.subarray(50, 50 + inLondon.length) })('9.9.9.9')).toEqual(london)
})

test('the MMDB lookup reloads a file that was replaced, and answers during the reload', async () => {
  const file = join(folder, 'replaced.mmdb')
  await writeFile(file, inLondon)
  const locate = mmdbLocate({ file })
  expect([locate('9.9.9.9'), locate('10.0.0.1')]).toEqual([london, undefined])

  await writeFile(`${file}.new`, inTokyo)
  await rename(`${file}.new`, file)
  const reloaded = locate.reload()
  expect(locate('9.9.9.9')).toEqual(london)
  await reloaded
  expect([locate('9.9.9.9'), locate('1.2.3.4')]).toEqual([tokyo, { ...tokyo, accuracyKm: 20 }])
})

test('the MMDB lookup keeps the old database when the new database is invalid', async () => {
  const file = join(folder, 'spoilt.mmdb')
  await writeFile(file, inLondon)
  const locate = mmdbLocate({ file })
  await writeFile(file, 'not a database')
  await expect(locate.reload()).rejects.toThrow(`cannot read ${file}`)
  await rm(file)
  await expect(locate.reload()).rejects.toThrow(file)
  expect(locate('9.9.9.9')).toEqual(london)
  await locate.reload(inTokyo)
  expect(locate('9.9.9.9')).toEqual(tokyo)
})

test('the last of several concurrent reloads of an MMDB file takes effect', async () => {
  const file = join(folder, 'several.mmdb')
  await writeFile(file, inLondon)
  const locate = mmdbLocate({ file })
  await Promise.all([locate.reload(), locate.reload(inTokyo)])
  expect(locate('9.9.9.9')).toEqual(tokyo)
})

test('the MMDB lookup replaces one buffer by another', async () => {
  const locate = mmdbLocate({ buffer: inLondon })
  await locate.reload(inTokyo)
  expect(locate('9.9.9.9')).toEqual(tokyo)
  await expect(locate.reload()).rejects.toThrow('reload() needs a buffer')
})

test('the MMDB lookup refuses at creation, by name, a file that is missing, corrupt or of another type', async () => {
  const named = async (name: string, content: Buffer | string) => {
    const file = join(folder, name)
    await writeFile(file, content)
    return file
  }
  const missing = join(folder, 'missing.mmdb')
  expect(() => mmdbLocate({ file: missing })).toThrow(missing)
  expect(() => mmdbLocate({ file: folder })).toThrow(folder)
  const page = await named('page.mmdb', '<!doctype html>')
  expect(() => mmdbLocate({ file: page })).toThrow(`cannot read ${page}: the file has no MMDB metadata`)
  const countries = encodeMmdb({
    networks: { '9.0.0.0/8': { country: { iso_code: 'US' } } },
    metadata: { database_type: 'GeoLite2-Country' },
  })
  const country = await named('country.mmdb', countries)
  expect(() => mmdbLocate({ file: country })).toThrow(`${country} has no coordinates (its type is GeoLite2-Country)`)
  expect(() => mmdbLocate({ buffer: countries })).toThrow('the MMDB buffer has no coordinates')
})

test('the MMDB lookup refuses invalid options by name', () => {
  const both = { file: 'city.mmdb', buffer: inLondon }
  expect(() => mmdbLocate(both)).toThrow('either file or buffer')
  const neither: unknown = {}
  expect(() => mmdbLocate(neither as { file: string })).toThrow('either file or buffer')
  for (const cacheSize of [-1, 1.5, Number.NaN, Infinity]) {
    expect(() => mmdbLocate({ buffer: inLondon, cacheSize })).toThrow(
      `cacheSize must be a whole number of addresses, 0 or more, not ${cacheSize}`,
    )
  }
})
