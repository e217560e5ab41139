import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '@muster/core/clock'
import { inject } from 'vitest'

interface Message {
  readonly kind: string
}

/** A process that can be killed and suspended, and that sends messages. */
export interface Victim {
  readonly process: ChildProcess
  /** All messages that the process has sent. */
  readonly told: readonly Message[]
  /** Sends a message. Resolves with the next answer of this kind. */
  ask<Answer>(message: object, kind: string, timeoutMs?: number): Promise<Answer>
  /** Resolves with the first message of this kind. */
  first<Answer>(kind: string, timeoutMs?: number): Promise<Answer>
  signal(signal: NodeJS.Signals): void
  /** Kills the process. Resolves when it has ended and all its messages have arrived. */
  kill(): Promise<void>
}

/** Running processes, which are killed if a test fails. */
const living = new Set<ChildProcess>()

export function endAll(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** Starts a program of this folder. @param wrapped a command with arguments that runs the program, e.g. `unshare` */
export function start(
  file: string,
  given: object,
  hear: (message: Message) => void = () => {},
  [command = process.execPath, ...wrapping]: readonly string[] = [],
): Victim {
  const execArgv = command === process.execPath ? [] : [...wrapping, process.execPath]
  const child = fork(join(inject('bundles'), file), [JSON.stringify(given)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execPath: command,
    execArgv,
  })
  living.add(child)
  // Each question also listens for the end of the process, so there may be many listeners.
  child.setMaxListeners(0)
  const told: Message[] = []
  const waiting = new Set<(message: Message) => void>()
  child.on('message', (message: Message) => {
    told.push(message)
    hear(message)
    for (const tell of waiting) tell(message)
  })
  const ended = once(child, 'close').then(() => void living.delete(child))

  const next = <Answer>(kind: string, timeoutMs: number): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const done = new AbortController()
      const tell = (message: Message) => {
        if (message.kind !== kind) return
        waiting.delete(tell)
        done.abort()
        resolve(message as Answer)
      }
      waiting.add(tell)
      void systemClock.sleep(timeoutMs, done.signal).then(
        () => reject(new Error(`${file} did not tell '${kind}' within ${timeoutMs} ms`)),
        () => {},
      )
    })

  return {
    process: child,
    told,
    ask: (message, kind, timeoutMs = 10_000) => {
      const answer = next<never>(kind, timeoutMs)
      child.send(message)
      return answer
    },
    first: (kind, timeoutMs = 60_000) => {
      const already = told.find((message) => message.kind === kind)
      return already === undefined ? next(kind, timeoutMs) : Promise.resolve(already as never)
    },
    signal: (signal) => void child.kill(signal),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
