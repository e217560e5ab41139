import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { systemClock } from '@muster/core/clock'
import type { WorkerMessage, WorkerSetup } from './messages.js'

/** The processes of the partition. */
export interface Fleet {
  /** Starts one more process. Resolves once it accepts requests. */
  start(): Promise<void>
  /** Kills (SIGKILL) the process that leads, or one that does not lead. */
  kill(which: 'leader' | 'other'): Promise<void>
  /** Milliseconds from each kill of a leader until another process led. */
  readonly takeoversMs: readonly number[]
  /** Ends all processes in order. */
  stop(): Promise<void>
}

interface Worker {
  readonly child: ChildProcess
  /** Resolves once the process has ended, for whatever reason. */
  readonly ended: Promise<unknown>
  url: string
  leads: boolean
}

export interface FleetOptions {
  readonly setup: WorkerSetup
  readonly heard: (message: WorkerMessage) => void
  /** Called when the URLs of the running processes have changed. */
  readonly reached: (urls: readonly string[]) => void
}

export function createFleet({ setup, heard, reached }: FleetOptions): Fleet {
  const workers: Worker[] = []
  const takeoversMs: number[] = []
  let leaderKilledAt: number | undefined
  const tellUrls = () => reached(workers.map(({ url }) => url))

  const take = (worker: Worker, message: WorkerMessage) => {
    worker.leads = message.kind === 'leading' || (worker.leads && message.kind !== 'following')
    if (message.kind === 'leading' && leaderKilledAt !== undefined) {
      takeoversMs.push(systemClock.now() - leaderKilledAt)
      leaderKilledAt = undefined
    }
    heard(message)
  }
  const gone = async (worker: Worker, signal: NodeJS.Signals) => {
    workers.splice(workers.indexOf(worker), 1)
    worker.child.kill(signal)
    await worker.ended
    tellUrls()
  }

  return {
    start: async () => {
      const child = fork(new URL('worker.js', import.meta.url), [JSON.stringify(setup)])
      const worker: Worker = { child, ended: once(child, 'exit'), url: '', leads: false }
      await new Promise<void>((resolve, reject) => {
        child.once('exit', () => reject(new Error('a process of the partition did not start')))
        child.on('message', (message: WorkerMessage) => {
          take(worker, message)
          if (message.kind !== 'listening') return
          worker.url = `http://127.0.0.1:${message.port}`
          workers.push(worker)
          tellUrls()
          resolve()
        })
      })
    },
    kill: async (which) => {
      const victim = workers.find(({ leads }) => leads === (which === 'leader'))
      if (victim === undefined) return
      if (victim.leads) leaderKilledAt = systemClock.now()
      await gone(victim, 'SIGKILL')
    },
    takeoversMs,
    stop: async () => {
      await Promise.all([...workers].map((worker) => gone(worker, 'SIGTERM')))
    },
  }
}
