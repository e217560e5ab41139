import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { openStore } from '@muster/matchmaker'
import { afterAll, expect, test } from 'vitest'
import { publishGame } from './game.js'
import { until } from './studio.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-killed-'))

/** Processes that are left when a test fails. */
const living = new Set<ChildProcess>()
afterAll(() => {
  for (const child of living) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** Runs a matchmaker in its own process, until its work is done or it is killed. */
async function live(arguments_: Readonly<Record<string, unknown>>): Promise<string | null> {
  const child = spawn(
    process.execPath,
    [join(root, 'test/matchmaker/mortal-process.mjs'), JSON.stringify(arguments_)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  living.add(child)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  living.delete(child)
  return code === 0 ? 'done' : signal
}

/**
 * Points of death before and after the steps that are hard to undo. `pnpm test` covers all others in
 * hosting/src/fault-schedules.
 */
const deaths = [
  { moment: 'before', kind: 'created' },
  { moment: 'after', kind: 'created' },
  { moment: 'after', kind: 'up' },
  { moment: 'after', kind: 'gone' },
] as const

test.concurrent.each(deaths)(
  'after kill -9 $moment the log entry $kind is written, no server is orphaned and none in use is stopped',
  async ({ kind, moment }) => {
    const emulator = createEmulator({ speed: 40, random: seededRandom(1), deployments: { listLagMs: 100 } })
    const { url } = await emulator.listen()
    const client = createClient({ baseUrl: url, token: 'dev' })
    await publishGame(client)
    const path = join(folder, `${kind}-${moment}`)
    expect(await live({ url, path, dieAt: { kind, moment } })).toBe('SIGKILL')

    const status = () => emulator.inspect().deployments.map(({ current_status }) => current_status)
    const playedOn = kind === 'up' && moment === 'after'
    expect(await live({ url, path, recover: true, keeps: playedOn ? 1 : 0 })).toBe('done')
    if (playedOn) {
      expect(status()).toEqual(['Status.READY'])
      // Any process can stop the server on request.
      expect(await live({ url, path, stop: true })).toBe('done')
    }
    await until('every server has ended', () => status().every((one) => one === 'Status.TERMINATED'))
    const store = await openStore({ path })
    expect(store.records('server', () => []).stored()).toEqual([])
    await store.close()
    await client.close()
    await emulator.close()
  },
)
