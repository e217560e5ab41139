import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@muster/core/clock'

interface Message {
  readonly kind: string
}

/** A process that can be killed and stopped, and that sends messages. */
export interface Victim {
  readonly process: ChildProcess
  /** All messages that it sent. */
  readonly told: readonly Message[]
  /** Sends a message, and resolves with the next answer of that kind. */
  ask<Answer>(message: object, kind: string, timeoutMs?: number): Promise<Answer>
  /** Resolves with the first message of a kind. */
  first<Answer>(kind: string, timeoutMs?: number): Promise<Answer>
  signal(signal: NodeJS.Signals): void
  /** Kills the process. Resolves when it has ended and all its messages were received. */
  kill(): Promise<void>
}

/** Processes that are left when a test fails. */
const living = new Set<ChildProcess>()

export function endAll(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** Starts a program of this folder. @param wrapped a command and its arguments that run it, such as `unshare`. */
export function start(
  file: string,
  given: object,
  hear: (message: Message) => void = () => {},
  [command = process.execPath, ...wrapping]: readonly string[] = [],
): Victim {
  const execArgv = command === process.execPath ? [] : [...wrapping, process.execPath]
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(given)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execPath: command,
    execArgv,
  })
  living.add(child)
  // Every question waits for its end too.
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
