import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import { openStore, StoreCorrupt } from '@muster/matchmaker'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll, start } from './processes.js'

const folder = mkdtempSync(join(tmpdir(), 'muster-cut-'))
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true }))

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

/** Returns the store of a backend that was killed: some hundred lines. */
async function writtenUntilKilled(path: string): Promise<Buffer> {
  const service = start('service-process.mjs', { seed: Number(process.env['CHAOS_SEED'] ?? 1) })
  const { url } = await service.first<{ readonly url: string }>('listening')
  const studio = start('studio-process.mjs', { url, path, life: 1, clockOffMs: 0, joins: true })
  await studio.first('assigned')
  await systemClock.sleep(500)
  await studio.kill()
  await service.kill()
  return readFileSync(path)
}

const KINDS = ['server', 'match']

/** Opens a store. Resolves with its servers and matches. */
async function opened(path: string) {
  const store = await openStore({ path, fsync: 'never' })
  const stored = KINDS.map((kind) => store.records(kind, () => []).stored())
  await store.close()
  return plain(
    stored.map((all) =>
      all.map(({ value, change = '{}' }) => ({ ...JSON.parse(value), ...JSON.parse(change) }) as object),
    ),
  )
}

test('the store of a killed backend, cut or changed at any byte, is read up to the damage', async () => {
  const whole = await writtenUntilKilled(join(folder, 'written'))
  const lines = whole.toString('latin1').split('\n').slice(0, 14)
  const bytes = Buffer.from(`${lines.join('\n')}\n`, 'latin1')
  const ends = lines.map((_, index) => lines.slice(0, index + 1).join('\n').length + 1)
  expect(lines.length).toBe(14)

  const byKind = new Map(KINDS.map((kind) => [kind, new Map<string, readonly [intent: object, change: object]>()]))
  const states: unknown[] = [[[], []]]
  const isOfServer = (line = '') => /^.{8} (server|match)/.test(line)
  let together = 0
  for (const line of lines.slice(1)) {
    // A line contains one or more changes of servers and matches that were written together.
    const parts = Buffer.from(line.slice(9), 'latin1').toString().split('\t')
    if (parts.length > 2) together += 1
    for (let at = 0; at < parts.length; at += 2) {
      const [, kind = '', op, key = ''] = /^([a-z-]+)([=~-])"([^"]+)"$/.exec(parts[at] ?? '') ?? []
      const records = byKind.get(kind)
      const value = parts[at + 1] ?? ''
      if (op === '-') records?.delete(key)
      if (op === '=') records?.set(key, [JSON.parse(value) as object, {}])
      if (op === '~') records?.set(key, [records.get(key)?.[0] ?? {}, JSON.parse(value) as object])
    }
    const present = Array.from(byKind.values(), (records) =>
      Array.from(records.values(), ([intent, change]) => ({ ...intent, ...change })),
    )
    states.push(present)
  }
  expect(together).toBeGreaterThan(0)
  const path = join(folder, 'cut')
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const count = ends.filter((end) => end <= length).length
    expect(await opened(path)).toEqual(states[Math.max(0, count - 1)])
  }
  const sum = { refused: 0, leftOut: 0 }
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] as number) ^ 4
    writeFileSync(path, changed)
    const nth = ends.findIndex((end) => index < end)
    const isLast = index >= (ends.at(-2) ?? 0) - 1
    if (isLast) {
      expect(states).toContainEqual(await opened(path))
      continue
    }
    // Damage of a server's line or of the header must be refused. So must damage of a line feed before a server's line,
    // because it joins the two lines.
    const isEnd = index === (ends[nth] ?? 0) - 1
    const isMark = lines[nth]?.endsWith(' !') === true
    const isStrict = nth === 0 || isMark || isOfServer(lines[nth]) || (isEnd && isOfServer(lines[nth + 1]))
    const outcome = await opened(path).catch((error: unknown) => error)
    if (outcome instanceof StoreCorrupt) {
      sum.refused += 1
      expect(readFileSync(path).equals(changed)).toBe(true)
    } else {
      sum.leftOut += 1
      expect(isStrict).toBe(false)
      expect(outcome).toEqual(states.at(-1))
    }
  }
  expect(sum.refused).toBeGreaterThan(0)
  expect(sum.leftOut).toBeGreaterThan(0)
})
