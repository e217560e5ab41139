import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { descriptorLimit, listenerBounds } from './listener.js'
import { configOf, yamlOf } from '../server.fixture.js'

const boundsOf = async (descriptors: number | undefined, more = '') =>
  listenerBounds(await configOf(yamlOf('http://127.0.0.1:9', more)), descriptors)

test('the default connection limits are 60,000, and 2,000 from one address', async () => {
  const usual = { most: 60_000, perAddress: 2000, wanted: undefined }
  expect(await boundsOf(undefined)).toEqual(usual)
  expect(await boundsOf(1_048_576)).toEqual(usual)
  expect(await boundsOf(1_048_576, 'limits: { waits: 200 }')).toMatchObject({ most: 10_200 })
})

test('fewer file descriptors lower the limit of connections and that of an address', async () => {
  expect(await boundsOf(4096)).toEqual({ most: 3696, perAddress: 462, wanted: 60_000 })
  expect(await boundsOf(64)).toMatchObject({ most: 100 })
})

test('connections from an address are unlimited behind proxies', async () => {
  const { perAddress } = await boundsOf(undefined, 'addresses: { trustedProxies: [10.0.0.0/8] }')
  expect(perAddress).toBeUndefined()
})

test('the limit of file descriptors is read if the operating system provides it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-limits-'))
  const path = join(folder, 'limits')
  await writeFile(path, 'Limit   Soft Limit  Hard Limit  Units\nMax open files            1024  524288  files\n')
  expect(await descriptorLimit(path)).toBe(1024)
  expect(await descriptorLimit(join(folder, 'nothing'))).toBeUndefined()
  await rm(folder, { recursive: true })
})
