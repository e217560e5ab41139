import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll, start, type Victim } from './processes.js'

const folder = mkdtempSync(join(tmpdir(), 'muster-lock-'))
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true }))

/** Commands that run a process in its own PID namespace, as a container does: as root, or by a user namespace. */
const containers = [
  ['unshare', '--pid', '--fork', '--kill-child', '--uts'],
  ['unshare', '--user', '--pid', '--fork', '--kill-child', '--uts'],
].find(([command = '', ...given]) => spawnSync(command, [...given, 'true']).status === 0)

interface Answer {
  /** Name of the error; undefined if the store was opened. */
  readonly error?: string
  readonly pid: number
}

async function starter(path: string, wrapped: readonly string[] = []): Promise<Victim> {
  const process = start('lock-process.mjs', { path }, undefined, wrapped)
  await process.first('started')
  return process
}
const ask = (process: Victim, kind: 'open' | 'append' | 'close') => process.ask<Answer>({ kind }, 'answer')

test('of six simultaneous processes exactly one gets the store lock, 100 times, after a close or kill -9', async () => {
  const path = join(folder, 'race')
  let starters = await Promise.all(Array.from({ length: 6 }, () => starter(path)))
  let kills = 0
  for (let round = 0; round < 100; round++) {
    const answers = await Promise.all(starters.map((process) => ask(process, 'open')))
    const winners = starters.filter((_, index) => answers[index]?.error === undefined)
    expect(answers.filter(({ error }) => error !== undefined).map(({ error }) => error)).toEqual(
      new Array(5).fill('StoreLocked'),
    )
    expect(winners).toHaveLength(1)
    const [winner] = winners as [Victim]
    expect((await ask(winner, 'append')).error).toBeUndefined()
    if (round % 10 === 0) {
      kills += 1
      await winner.kill()
      starters = await Promise.all(starters.map((one) => (one === winner ? starter(path) : one)))
    } else {
      await ask(winner, 'close')
    }
  }
  expect(kills).toBe(10)
})

test('of two containers with the same volume, host name and pid one holds the store lock until its kill', async () => {
  const path = join(folder, 'containers')
  const [first, second] = [await starter(path, containers), await starter(path, containers)]
  const opened = await ask(first, 'open')
  expect(opened.error).toBeUndefined()
  if (containers !== undefined) expect(opened.pid).toBe(1)
  expect((await ask(second, 'open')).error).toBe('StoreLocked')
  await first.kill()
  const killedAt = systemClock.now()
  while ((await ask(second, 'open')).error !== undefined) {
    expect(systemClock.now() - killedAt).toBeLessThan(2000)
    await systemClock.sleep(10)
  }
  expect((await ask(second, 'append')).error).toBeUndefined()
  const third = await starter(path, containers)
  expect((await ask(third, 'open')).error).toBe('StoreLocked')
})

test('a process stopped by SIGSTOP keeps the store lock, and continues afterwards', async () => {
  const path = join(folder, 'stopped')
  const [first, second] = [await starter(path), await starter(path)]
  await ask(first, 'open')
  first.signal('SIGSTOP')
  for (let attempt = 0; attempt < 20; attempt++) expect((await ask(second, 'open')).error).toBe('StoreLocked')
  first.signal('SIGCONT')
  expect((await ask(first, 'append')).error).toBeUndefined()
})
