/** Tests game servers on this machine whose managing process is killed (SIGKILL) at any moment. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom, systemClock } from '@muster/core/clock'
import { createLocalAllocator } from '@muster/matchmaker/internal'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll, start } from './processes.js'

const state = mkdtempSync(join(tmpdir(), 'muster-servers-'))
afterEach(endAll)
afterAll(() => rmSync(state, { recursive: true }))

/** Each start of the game appends its process id to a file. */
const GAME = 'echo $$ >>"$0/$SERVICE_REQUEST_ID/game"; trap "exit 0" TERM; sleep 3600 & wait'
const command = ['/bin/sh', '-c', GAME, state]
const call = { timeoutMs: 10_000 }

const startsOf = (id: string) => {
  const file = join(state, id, 'game')
  return existsSync(file) ? (readFileSync(file, 'utf8').match(/\d+(?=\n)/g) ?? []).map(Number) : []
}
/** A zombie does not count as running: it has ended, but its parent has not collected its exit code. */
const doesRun = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('kill -9 of Muster at any time neither doubles nor loses a launched server, and each is stopped', async () => {
  const random = seededRandom(7)
  const found = { running: 0, never: 0, stopped: 0 }
  for (let round = 0; round < 40; round += 1) {
    const id = `r${round}`
    const isStop = round % 2 === 1
    const next = createLocalAllocator({ state, command, graceMs: 200 })
    if (isStop) await next.allocate({ id, application: 'game', version: '1', places: [], environment: {} }, call)
    const victim = start('local-servers-process.mjs', { state, command })
    await victim.first('started')
    victim.process.send({ kind: isStop ? 'stop' : 'start', id })
    // Kill the process immediately, after a random time, or once the server has started.
    if (round % 8 !== 0) await systemClock.sleep(random() * 20)
    if (round % 8 === 4) while (startsOf(id).length === 0) await systemClock.sleep(5)
    await victim.kill()

    if (isStop) {
      await next.stop(id, call)
      found.stopped += 1
    } else {
      const [said] = await next.poll([id], call)
      found[said?.status === 'ready' ? 'running' : 'never'] += 1
      await next.allocate({ id, application: 'game', version: '1', places: [], environment: {} }, call)
      while (startsOf(id).length === 0) await systemClock.sleep(5)
      expect((await next.poll([id], call))[0]).toMatchObject({ id, status: 'ready' })
      // If a second start was still under way, it would happen within this time.
      await systemClock.sleep(20)
      expect(startsOf(id)).toHaveLength(1)
      await next.stop(id, call)
    }
    expect(startsOf(id).filter(doesRun)).toEqual([])
  }
  // The kills must have hit each phase: before, during and after a start.
  expect(Math.min(...Object.values(found))).toBeGreaterThan(0)
})
