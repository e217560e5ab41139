import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import { createFileJournal, StoreCorrupt } from '@muster/matchmaker'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll, start } from './processes.js'

const folder = mkdtempSync(join(tmpdir(), 'muster-cut-'))
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true }))

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

/** The journal that a backend wrote until it was killed: some hundred entries. */
async function writtenUntilKilled(path: string): Promise<Buffer> {
  const service = start('service-process.mjs', { seed: 1 })
  const { url } = await service.first<{ readonly url: string }>('listening')
  const studio = start('studio-process.mjs', { url, path, life: 1, clockOffMs: 0, joins: true })
  await studio.first('assigned')
  await systemClock.sleep(500)
  await studio.kill()
  await service.kill()
  return readFileSync(path)
}

async function opened(path: string) {
  const journal = createFileJournal({ path, fsync: 'never' })
  try {
    return plain(await journal.open())
  } finally {
    await journal.close()
  }
}

test("a killed backend's journal, cut or changed at any byte, is read as far as it is whole", async () => {
  const whole = await writtenUntilKilled(join(folder, 'written'))
  const lines = whole.toString('latin1').split('\n').slice(0, 12)
  const bytes = Buffer.from(`${lines.join('\n')}\n`, 'latin1')
  const ends = lines.map((_, index) => lines.slice(0, index + 1).join('\n').length + 1)
  expect(lines.length).toBe(12)

  const records = new Map<string, readonly [intent: object, change: object]>()
  const states: unknown[] = [[]]
  for (const line of lines.slice(1)) {
    const [, op, key = '', value = ''] =
      /^.{8} server([=~-])"([^"]+)"\t(.*)$/.exec(Buffer.from(line, 'latin1').toString()) ?? []
    if (op === '-') records.delete(key)
    if (op === '=') records.set(key, [JSON.parse(value) as object, {}])
    if (op === '~') records.set(key, [records.get(key)?.[0] ?? {}, JSON.parse(value) as object])
    states.push(Array.from(records.values(), ([intent, change]) => ({ ...intent, ...change })))
  }
  const path = join(folder, 'cut')
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const count = ends.filter((end) => end <= length).length
    expect(await opened(path)).toEqual(states[Math.max(0, count - 1)])
  }
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] as number) ^ 4
    writeFileSync(path, changed)
    const isLast = index >= (ends.at(-2) ?? 0) - 1
    if (isLast) expect(states).toContainEqual(await opened(path))
    else await expect(opened(path)).rejects.toThrow(StoreCorrupt)
    if (!isLast) expect(readFileSync(path).equals(changed)).toBe(true)
  }
})
