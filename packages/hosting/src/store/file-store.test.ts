import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { StoreCorrupt, StoreLocked, StoreTorn, Unavailable } from '../errors.js'
import { readIfThere } from './append-file.js'
import { openStore } from './file-store.js'
import { HEADER, lineOf, TICKET_LOG_HEADER } from './store-format.js'
import { createFolder, hasSome, Model, openModelled, readBack, step } from './store.fixture.js'

const { newPath, remove } = createFolder()
afterAll(remove)

const logged = (path: string, bytes?: Buffer<ArrayBuffer>) => new Map([...readBack(path, bytes)].filter(hasSome))

test('property: a store file torn at any byte has the contents of its whole lines', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step), fc.infiniteStream(fc.nat()), async (steps, numbers) => {
      const path = newPath()
      const { log, take } = await openModelled(path)
      log.flush()
      /** The size of the file after each step. */
      const sizes = [statSync(path).size]
      for (const one of steps) {
        take(one)
        log.flush()
        sizes.push(statSync(path).size)
      }
      await log.close()
      const bytes = readFileSync(path)
      for (let times = 0; times < 5; times += 1) {
        const size = (numbers.next().value ?? 0) % (bytes.length + 1)
        const model = new Model()
        const whole = sizes.findLastIndex((one) => one <= size)
        for (const one of steps.slice(0, Math.max(0, whole))) model.apply(one)
        const torn = bytes.subarray(0, size)
        expect(logged(path, torn)).toEqual(model.all())
        // The store continues after the intact lines.
        const cut = newPath()
        writeFileSync(cut, torn)
        const again = await openStore({ path: cut, fsync: 'never' })
        again.attach({ name: 'test', problem: () => {} })
        again.records('more', () => []).write([{ key: 'z', value: '1' }])
        await again.close()
        expect(logged(cut)).toEqual(new Map([...model.all(), ['more', [{ key: 'z', value: '1' }]]]))
      }
    }),
    { numRuns: 30 },
  )
})

test('property: a store file compacted at any time, even during changes, has every written record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), async (rounds) => {
      const path = newPath()
      const { clock, log, take, model, problems } = await openModelled(path, { compactAtBytes: 1 })
      for (const steps of rounds) {
        await clock.advance(1000)
        // Some steps happen before the file is written, some during the write, and some after it.
        const rewritten = log.advance()
        for (const one of steps) {
          take(one)
          await new Promise((resolve) => setImmediate(resolve))
        }
        await rewritten
      }
      await log.close()
      expect(sorted(logged(path))).toEqual(sorted(model.all()))
      expect(problems).toEqual([])
    }),
    { numRuns: 30 },
  )
})

/** Sorts records by key, because records that were put during a rewrite may be in another order. */
const sorted = (all: ReadonlyMap<string, readonly { readonly key: string }[]>) =>
  new Map([...all].map(([kind, records]) => [kind, records.toSorted((one, other) => (one.key < other.key ? -1 : 1))]))

test('a grown store file is compacted to the live records, in their order', async () => {
  const path = newPath()
  const { clock, log, take, model } = await openModelled(path, { compactAtBytes: 10_000 })
  for (let times = 0; times < 1000; times += 1)
    take({ kind: 'a', op: '=', key: `k${times % 5}`, value: JSON.stringify('x'.repeat(20)) })
  log.flush()
  expect(statSync(path).size).toBeGreaterThan(30_000)
  await log.advance()
  expect(statSync(path).size).toBeLessThan(1000)
  await clock.advance(1000)
  expect(logged(path)).toEqual(model.all())
  await log.close()
})

test('records of unknown kinds are kept through compaction', async () => {
  const path = newPath()
  const first = await openModelled(path)
  first.take({ kind: 'a', op: '=', key: 'x', value: '1' })
  first.take({ kind: 'a', op: '~', key: 'x', value: '2' })
  await first.log.close()
  const log = await openStore({ path, compactAtBytes: 1, fsync: 'never' })
  log.attach({ name: 'test', problem: () => {} })
  await log.advance()
  await log.close()
  expect(logged(path)).toEqual(new Map([['a', [{ key: 'x', value: '1', change: '2' }]]]))
})

test('damaged lines of a store file are skipped and reported, and the other lines are read', async () => {
  const path = newPath()
  const lines = ['w', 'x', 'y', 'z'].map((key) => lineOf('ticket', '=', key, '{}'))
  const bytes = Buffer.from(HEADER + lines.join(''))
  const at = bytes.indexOf('"x"') + 1
  bytes[at] = 0x58
  writeFileSync(path, bytes)
  appendFileSync(path, Buffer.concat([Buffer.alloc(40), Buffer.from('\n'), Buffer.from('torn')]))
  const { log, problems } = await openModelled(path)
  expect(
    log
      .records('ticket', () => [])
      .stored()
      .map(({ key }) => key),
  ).toEqual(['w', 'y', 'z'])
  await log.advance()
  expect(problems).toMatchObject([{ name: 'StoreTorn', path, line: 3, lines: 3 }])
  expect(problems[0]).toBeInstanceOf(StoreTorn)
  await log.close()
  const again = await openModelled(path)
  await again.log.advance()
  expect(again.problems).toEqual([])
  await again.log.close()
})

test('a ticket log of version 1 is converted to a store file', async () => {
  const path = newPath()
  const lines = [lineOf('a', '=', 'x', '1'), lineOf('a', '~', 'x', '2'), lineOf('b-c', '=', 'y', '3')]
  writeFileSync(path, TICKET_LOG_HEADER + lines.join(''))
  const { log, records, take } = await openModelled(path)
  expect(records.stored()).toEqual([{ key: 'x', value: '1', change: '2' }])
  take({ kind: 'a', op: '=', key: 'z', value: '4' })
  await log.close()
  expect(readFileSync(path, 'latin1').startsWith(HEADER)).toBe(true)
  expect(logged(path)).toEqual(
    new Map([
      [
        'a',
        [
          { key: 'x', value: '1', change: '2' },
          { key: 'z', value: '4' },
        ],
      ],
      ['b-c', [{ key: 'y', value: '3' }]],
    ]),
  )
})

describe('the file of a store', () => {
  test.each([
    ['not a store', '{"ip":"192.0.2.1"}\nmore\n', /is not a store of Muster/],
    ['of another version', HEADER.replace('"version":4', '"version":9'), /has version 9/],
    ['damaged in its first line', HEADER.replace('muster', 'mustard'), /was written by another version/],
    [
      'damaged in a line of a server',
      `${HEADER}x${lineOf('server', '=', 'm1', '{}')}${lineOf('server', '=', 'm2', '{}')}`,
      /line 2/,
    ],
  ])('the file of a store is left unchanged and refused if it is %s', async (_, content, message) => {
    const path = newPath()
    writeFileSync(path, content)
    const opening = openStore({ path })
    await expect(opening).rejects.toThrow(StoreCorrupt)
    // A store that failed to open keeps no lock.
    await expect(openStore({ path })).rejects.toThrow(message)
    await expect(openStore({ path })).rejects.toThrow(path)
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.`))).toEqual([])
  })

  test.each([
    ['empty', ''],
    ['torn in its header', HEADER.slice(0, 20)],
    ['all zeros after a power failure', '\0'.repeat(4096)],
  ])('the file of a store is started anew if it is %s', async (_, content) => {
    const path = newPath()
    writeFileSync(path, content)
    const { log, take, model } = await openModelled(path)
    take({ kind: 'a', op: '=', key: 'x', value: '1' })
    await log.close()
    expect(logged(path)).toEqual(model.all())
  })

  test('the file of a store is made unreadable for other users, even after compaction', async () => {
    const path = newPath()
    writeFileSync(path, '')
    chmodSync(path, 0o644)
    const { log } = await openModelled(path, { compactAtBytes: 1 })
    expect(statSync(path).mode & 0o077).toBe(0)
    log.flush()
    await log.advance()
    expect(statSync(path).mode & 0o077).toBe(0)
    await log.close()
  })

  test('the file of a store is refused if another process has it open', async () => {
    const path = newPath()
    const { log } = await openModelled(path)
    await expect(openStore({ path })).rejects.toThrow(StoreLocked)
    await expect(openStore({ path })).rejects.toThrow(/ is locked by process \d+ on host /)
    await log.close()
    await (await openModelled(path)).log.close()
  })

  test('the file of a store is written again if it is removed while open', async () => {
    const path = newPath()
    const { clock, log, take, model, problems } = await openModelled(path)
    take({ kind: 'a', op: '=', key: 'x', value: '1' })
    log.flush()
    rmSync(path)
    await log.advance()
    take({ kind: 'a', op: '=', key: 'y', value: '2' })
    await clock.advance(1000)
    await log.close()
    expect(logged(path)).toEqual(model.all())
    expect(problems).toEqual([])
  })

  test('a store file that is moved away with its lock is named, and written again once it is back', async () => {
    const path = newPath()
    const { clock, log, records, problems } = await openModelled(path)
    for (const end of ['', '.lock']) renameSync(path + end, `${path}${end}.moved`)
    await log.advance()
    expect(problems).toContainEqual(expect.objectContaining({ message: expect.stringContaining('Move them back') }))
    expect(() => records.write([{ key: 'x', value: '1' }])).toThrow(Unavailable)
    for (const end of ['', '.lock']) renameSync(`${path}${end}.moved`, path + end)
    await clock.advance(1000)
    await log.advance()
    records.write([{ key: 'x', value: '1' }])
    await log.close()
  })

  test('a store whose path is a symbolic link stays a link, even after compaction', async () => {
    const [path, real] = [newPath(), newPath()]
    symlinkSync(real, path)
    for (const value of ['1', '2']) {
      const store = await openStore({ path, compactAtBytes: 1 })
      store.attach({ name: 'test', problem: () => {} })
      const records = store.records('ticket', () => [{ key: 'a', value }])
      records.write([{ key: 'a', value }])
      await store.advance()
      await store.close()
      expect(lstatSync(path).isSymbolicLink()).toBe(true)
      expect(logged(real).get('ticket')).toMatchObject([{ key: 'a', value }])
    }
  })

  test('a store whose path is a link to a link to no file yet is created behind the last link', async () => {
    const [path, between, real] = [newPath(), newPath(), newPath()]
    symlinkSync(between, path)
    symlinkSync(real, between)
    await (await openStore({ path })).close()
    expect(lstatSync(between).isSymbolicLink()).toBe(true)
    expect(lstatSync(real).isFile()).toBe(true)
  })

  test('a store whose path is a link to itself is refused', async () => {
    const path = newPath()
    symlinkSync(path, path)
    await expect(openStore({ path })).rejects.toThrow('ELOOP')
  })

  test('a store that is open through a symbolic link is locked under its own path, and the reverse', async () => {
    const [path, real] = [newPath(), newPath()]
    symlinkSync(basename(real), path)
    for (const [one, other] of [
      [path, real],
      [real, path],
    ] as const) {
      const store = await openStore({ path: one })
      await expect(openStore({ path: other })).rejects.toThrow(StoreLocked)
      await store.close()
    }
  })

  test('a store file is read in pieces, so that it may have any size', async () => {
    const path = newPath()
    writeFileSync(path, 'the content of a file')
    expect(String(await readIfThere(path, 4))).toBe('the content of a file')
    expect(String(await readIfThere(`${path}-none`, 4))).toBe('')
  })

  test('an empty file in place of a store is reported, because its records may be lost', async () => {
    const path = newPath()
    writeFileSync(path, '')
    const { log, problems } = await openModelled(path)
    await log.advance()
    expect(problems).toMatchObject([{ message: expect.stringContaining(`Store ${path} is empty.`) as string }])
    await log.close()
    const again = await openModelled(newPath())
    await again.log.advance()
    expect(again.problems).toEqual([])
    await again.log.close()
  })

  test('a store file that is replaced while open belongs to another process, and is not written any more', async () => {
    const path = newPath()
    const { clock, log, take, problems, records } = await openModelled(path)
    take({ kind: 'a', op: '=', key: 'x', value: '1' })
    log.flush()
    renameSync(path, newPath())
    writeFileSync(path, 'mine')
    await log.advance()
    expect(log.isFailing()).toBe(true)
    expect(problems).toMatchObject([
      { message: expect.stringMatching(/was replaced by another process while it was open, or/) as string },
    ])
    await clock.advance(5000)
    expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(/cannot be written/)
    await log.close()
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })
})

describe.runIf(process.getuid?.() === 0)('a store that root writes into the folder of a user', () => {
  const NOBODY = 65_534
  const folderOfNobody = () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-owner-'))
    chownSync(folder, NOBODY, NOBODY)
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return folder
  }

  test('a store that root writes belongs to the owner of its folder', async () => {
    const path = join(folderOfNobody(), 'muster.log')
    const { log, take } = await openModelled(path)
    take({ kind: 'a', op: '=', key: 'x', value: '1' })
    await log.close()
    expect(statSync(path)).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o100_600 })
  })

  test.each(['muster.log', 'muster.log.new'])('a file to which the user links %s stays root’s', async (name) => {
    const [folder, elsewhere] = [folderOfNobody(), newPath()]
    writeFileSync(elsewhere, '')
    symlinkSync(elsewhere, join(folder, name))
    const { log } = await openModelled(join(folder, 'muster.log'))
    await log.close()
    expect(statSync(elsewhere).uid).toBe(0)
  })
})
