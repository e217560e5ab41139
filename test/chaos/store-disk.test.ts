import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, systemClock } from '@muster/core/clock'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll, start, type Victim } from './processes.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
const folder = mkdtempSync(join(tmpdir(), 'muster-chaos-tickets-'))
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true }))

const LIVES = 6

interface Message {
  readonly kind: string
  readonly id?: string
  /** Epoch milliseconds. */
  readonly at?: number
  readonly error?: string
  readonly ids?: readonly string[]
}

/** Limits the size of files that the process writes, so that a write fails halfway as on a full disk. */
const limitFiles = ({ process: { pid } }: Victim, bytes: number | undefined) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`], { stdio: 'ignore' })

test(`kill -9 and a full disk at any byte lose no accepted ticket (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const path = join(folder, 'muster.log')
  const created = new Set<string>()
  /**
   * Cancelled tickets. `perhaps`: the cancel was not acknowledged, or the disk was full, so a restart may forget it.
   */
  const cancelled = new Map<string, 'written' | 'perhaps'>()
  const sum = { refused: 0, created: 0 }
  const wrong: string[] = []
  for (let life = 0; life < LIVES; life += 1) {
    /**
     * When the disk was full, in epoch milliseconds of the process's messages, because a busy machine delivers messages
     * late.
     */
    const full = { from: Infinity, lifted: Infinity, until: Infinity }
    const hear = (message: { readonly kind: string }) => {
      const { kind, id = '', at = 0, error = '', ids = [] } = message as Message
      if (kind === 'created') created.add(id)
      // An accepted ticket is written after all cancels that waited for the disk, so from then on the disk works.
      if (kind === 'created' && at > full.lifted) full.until = Math.min(full.until, at)
      if (kind === 'leaving') cancelled.set(id, 'perhaps')
      if (kind === 'cancelled') cancelled.set(id, at >= full.from && at < full.until ? 'perhaps' : 'written')
      if (kind === 'refused') sum.refused += 1
      if (kind === 'refused' && error !== 'Unavailable') wrong.push(`refused as ${error}`)
      if (kind !== 'began') return
      const here = new Set(ids)
      for (const one of created) if (!cancelled.has(one) && !here.has(one)) wrong.push(`${one} is lost in life ${life}`)
      for (const one of here) if (cancelled.get(one) === 'written') wrong.push(`${one} is back in life ${life}`)
      // From now on, the tickets that the process has restored count as waiting, and all others as gone.
      for (const one of created) if (!here.has(one)) created.delete(one)
      for (const one of here) cancelled.delete(one)
    }
    const fsync = random() < 0.2 ? 'always' : 'intents'
    const victim = start('store-disk-process.mjs', { path, life, joins: 100_000, fsync }, hear)
    await victim.first('began')
    await systemClock.sleep(100 + random() * 400)
    if (random() < 0.7) {
      full.from = Date.now()
      limitFiles(victim, statSync(path).size + Math.floor(random() * 2000))
      await systemClock.sleep(300 + random() * 500)
      if (random() < 0.6) {
        limitFiles(victim, undefined)
        full.lifted = Date.now()
        await expect.poll(() => full.until, { timeout: 30_000 }).toBeLessThan(Infinity)
        await systemClock.sleep(random() * 500)
      }
    }
    await victim.kill()
    sum.created = Math.max(sum.created, created.size)
  }
  const last = start('store-disk-process.mjs', { path, life: LIVES, joins: 0, fsync: 'never' }, (message) => {
    const { kind, ids = [] } = message as Message
    if (kind !== 'began') return
    const here = new Set(ids)
    for (const one of created) if (!cancelled.has(one) && !here.has(one)) wrong.push(`${one} is lost at the end`)
  })
  await last.first('began')
  await last.kill()
  expect(wrong).toEqual([])
  // The run must have had both, or it proves nothing.
  expect(sum.refused).toBeGreaterThan(0)
  expect(sum.created).toBeGreaterThan(100)
})
