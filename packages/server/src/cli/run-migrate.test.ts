/** Runs `muster migrate` with files of earlier versions, and with those of later ones. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { connectRedis } from '@muster/redis'
import { skipsRedis, startRedisServer } from '@muster/redis-server'
import { afterAll, describe, expect, test } from 'vitest'
import { runProgram } from './program.js'
import { terminalOf } from './terminal.js'

const kept = fileURLToPath(new URL('../../../../test/formats/kept/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'muster-migrate-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const env = {
  MUSTER_TOKEN: 'a-token-of-the-service',
  MUSTER_JWT_SECRET: 'a-secret-of-the-studio-that-signs-players',
  MUSTER_BACKEND_KEY: 'the-key-of-the-backend-of-the-game',
  MUSTER_OPERATOR_KEY: 'the-key-of-live-ops-of-the-game',
}

/** Runs a command with kept/muster-1.yaml after some changes. */
async function muster(args: string, ...changes: readonly (readonly [string, string])[]) {
  const folder = mkdtempSync(join(scratch, 'cli-'))
  let text = readFileSync(join(kept, 'muster-1.yaml'), 'utf8')
  for (const [from, to] of changes) {
    expect(text).toContain(from)
    text = text.replace(from, to)
  }
  writeFileSync(join(folder, 'muster.yaml'), text)
  const lines: string[] = []
  const stream = { write: (line: string) => lines.push(line) > 0 }
  const code = await runProgram(args.split(' '), terminalOf({ stdout: stream, stderr: stream, env, cwd: () => folder }))
  return { code, text: lines.join('').replaceAll(scratch, '') }
}

const inFolder = (folder: string) => ['store: memory', `store: { folder: ${JSON.stringify(folder)} }`] as const

describe.each(readdirSync(kept).filter((name) => name.startsWith('store-')))('the kept store %s', (name) => {
  const filesIn = (folder: string) => readdirSync(folder).filter((file) => file !== 'ids.json')

  test('muster migrate prints the version of each kept store, and rewrites it in the latest one', async () => {
    const folder = mkdtempSync(join(scratch, `${name}-`))
    cpSync(join(kept, name), folder, { recursive: true })
    const before = filesIn(folder)
    const dry = await muster('migrate --dry-run', inFolder(folder))
    expect(dry).toMatchObject({ code: 0 })
    expect(filesIn(folder)).toEqual(before)
    expect(dry.text).toContain('muster.yaml: version 1, the latest')
    for (const file of before) expect(dry.text).toMatch(new RegExp(`/${file}: version \\d, \\d+ records; `))
    const isOlder = name !== 'store-4'
    expect(dry.text.includes('would be written to')).toBe(isOlder)

    expect(await muster('migrate', inFolder(folder))).toMatchObject({ code: 0 })
    expect(filesIn(folder).filter((file) => !file.endsWith('.lock'))).toEqual(['muster.log'])
    const again = await muster('migrate --dry-run', inFolder(folder))
    expect(again.text).toMatch(/muster\.log: version 4, \d+ records; the latest/)
    const tickets = (text: string) => [...text.matchAll(/, (\d+) records/g)].reduce((sum, [, n]) => sum + Number(n), 0)
    expect(tickets(again.text)).toBeGreaterThanOrEqual(4)
  })
})

test('muster migrate refuses a store of a later version in one sentence, and does not change it', async () => {
  const folder = mkdtempSync(join(scratch, 'later-'))
  const header = '{"store":"muster","version":5}'
  const file = `${crc32(header).toString(16).padStart(8, '0')} ${header}\nwhatever that holds\n`
  writeFileSync(join(folder, 'muster.log'), file)
  const { code, text } = await muster('migrate', inFolder(folder))
  expect(code).toBe(1)
  expect(text).toContain(
    'muster.log has version 5, but this Muster reads up to 4. The file was not changed. Run a later Muster.',
  )
  expect(readFileSync(join(folder, 'muster.log'), 'utf8')).toBe(file)
})

test('muster migrate needs no secrets for a folder, and fails if it may not read the folder', async () => {
  const folder = mkdtempSync(join(scratch, 'file-'))
  writeFileSync(join(folder, 'data'), '')
  const without = ['MUSTER_TOKEN', 'MUSTER_OTHER_TOKEN'] as const
  const empty = await muster('migrate', inFolder(folder), without)
  expect([empty.code, empty.text]).toEqual([0, expect.stringContaining('muster.log: does not exist yet')])
  const { code, text } = await muster('migrate', inFolder(join(folder, 'data')), without)
  expect([code, text]).toEqual([1, expect.stringContaining('muster.log cannot be read: ENOTDIR')])
})

test('a configuration of a later version is refused in one sentence, even with other new fields', async () => {
  const { code, text } = await muster('check', ['version: 1\n', 'version: 2\nnewSection: { a: 1 }\n'])
  expect(code).toBe(2)
  expect(text).toContain('error: version: is 2, of a later version of Muster: this one reads 1')
  expect(text).toContain('cannot be used: 1 error')
})

test('a configuration of version 1 is valid', async () => {
  expect((await muster('check')).code).toBe(0)
})

describe.skipIf(skipsRedis())('muster migrate for a partition in Redis', () => {
  test('muster migrate prints the format of a partition in Redis, and refuses a later one', async () => {
    const redis = await startRedisServer()
    const connection = await connectRedis({ client: { url: redis.url }, prefix: 'kept' })
    const key = connection.keys('partition.kept')('q')
    const inRedis = ['store: memory', `store: { redis: { url: ${JSON.stringify(redis.url)}, prefix: kept } }`] as const
    const said = async (...fields: readonly string[]) => {
      if (fields.length > 0) await connection.command(key, ['HSET', key, ...fields])
      const { code, text } = await muster('migrate', inRedis)
      return [code, text.trim().split('\n').at(-1)]
    }
    expect(await said()).toEqual([0, 'partition kept in Redis: does not exist yet'])
    const older =
      'partition kept in Redis: format 1, which the first leader of this version upgrades to format 2; ' +
      'earlier versions cannot lead it after that'
    expect(await said('text', '{}', 'since', '1')).toEqual([0, older])
    expect(await said('format', '1')).toEqual([0, older])
    expect(await said('format', '2')).toEqual([0, 'partition kept in Redis: format 2, the latest'])
    expect(await said('format', '7')).toEqual([
      1,
      'error: The partition in Redis has format 7, of a later version of Muster; this version reads up to 2. ' +
        'Nothing was changed. Run the later version in this process too.',
    ])
    await connection.close()
    await redis.close()
  })
})
