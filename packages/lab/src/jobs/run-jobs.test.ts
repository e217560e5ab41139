import { InvalidQueue } from '@muster/matchmaker'
import { afterAll, describe, expect, test } from 'vitest'
import { generateCrowd } from '../crowd/generate/generate-crowd.js'
import { figuresOf } from '../figures/figures-of.js'
import { duel, europeans } from '../run/run-crowd.fixture.js'
import { runCrowd } from '../run/run-crowd.js'
import { createLabThreads, type LabJob, queuesOf, runJobs, ThreadFailed } from './run-jobs.js'

const made = generateCrowd({ players: 8, hours: 0.05 }, 1)
const recorded = europeans(20, 1)
const program = (text: string) => new URL(`data:text/javascript,${text}`)

describe('jobs in several threads', () => {
  /** All tests share one thread, because starting a thread takes longer than these jobs. */
  const one = createLabThreads({ threads: 1 })
  afterAll(() => one.close())

  test('lab jobs have the same results for any number of threads, as in the main thread', async () => {
    const jobs: LabJob[] = [
      { crowd: made, seed: 1, queues: [duel] },
      { crowd: recorded, seed: 1, queues: [duel] },
      { crowd: made, seed: 2, queues: [duel], tickMs: 500 },
    ]
    const shares: number[] = []
    const results = await one.run(jobs, { progressed: (share) => shares.push(share) })
    expect(await runJobs(jobs, { threads: 2 })).toEqual(results)
    const outcome = await runCrowd(generateCrowd({ players: 8, hours: 0.05 }, 2), [duel], { seed: 2, tickMs: 500 })
    const queues = queuesOf({ queues: [duel] })
    expect(results[2]?.figures).toEqual(figuresOf(generateCrowd({ players: 8, hours: 0.05 }, 2), outcome, { queues }))
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(shares.at(-1)).toBe(1)
  })

  test('lab jobs use the pools of their queues, or otherwise a server for each match', async () => {
    const deploy = { application: 'game', version: '1' }
    const queues = [{ ...duel, pool: 'arena', deploy }]
    const job = { crowd: recorded, seed: 1, queues }
    const pools = [{ name: 'arena', deploy, reuse: { maxMatches: 5 } }]
    const [pooled, own] = await one.run([{ ...job, pools }, job])
    expect(Object.keys(pooled?.figures.pools ?? {})).toEqual(['arena'])
    expect(own?.figures.pools).toEqual({})
    await expect(runJobs([{ ...job, pools: [] }])).rejects.toThrow('queue "duel": pool: there is no such pool')
  })

  test('invalid lab jobs are refused before any of them starts', async () => {
    const job = { crowd: recorded, seed: 1 }
    const code = { name: 'odd', kind: 'custom', test: () => true } as const
    await expect(runJobs([{ ...job, queues: [{ ...duel, rules: [code] }] }])).rejects.toThrow(
      'queue "duel": a custom rule is code, which cannot be sent to a thread. Run it with runCrowd.',
    )
    await expect(runJobs([{ ...job, queues: [{ ...duel, name: '' }] }])).rejects.toBeInstanceOf(InvalidQueue)
    expect(() => createLabThreads({ threads: 0 })).toThrow('option threads: must be a whole number from 1, got 0')
  })

  test('lab jobs fail with one clear error when a thread ends early, and the threads can be used again', async () => {
    const job = { crowd: recorded, seed: 1, queues: [duel] }
    const crashing = createLabThreads({ threads: 1, program: program('process.exit(3)') })
    const failed = new ThreadFailed('job 1 of 2: the thread of the job ended early, with code 3')
    await expect(crashing.run([job, job])).rejects.toThrow(failed)
    await expect(crashing.run([job])).rejects.toThrow('job 1 of 1: the thread of the job ended early, with code 3')
    const full = program('const all = []; for (;;) all.push(new Array(1e5).fill(all.length))')
    await expect(runJobs([job], { heapMb: 16, program: full })).rejects.toThrow(
      'job 1 of 1: the job needs more than 16 MB of memory: make the crowd smaller',
    )
  })

  test('lab jobs end with their threads when they are aborted', async () => {
    const ending = new AbortController()
    const job = { crowd: recorded, seed: 1, queues: [duel] }
    const silent = program('import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {})')
    const running = runJobs([job], { signal: ending.signal, program: silent })
    ending.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    await expect(runJobs([job], { signal: ending.signal })).rejects.toThrow('enough')
  })
})
