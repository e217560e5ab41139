import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A command that was started as if somebody typed it into a terminal. */
export interface Typed {
  /** Returns the command's output so far, standard output and standard error. */
  readonly output: () => string
  /** Resolves with the named groups once the output matches. Rejects if the command ends before. */
  readonly said: (pattern: RegExp) => Promise<Readonly<Record<string, string>>>
  /** Resolves with the exit code once the command has ended and its outputs are closed. */
  readonly ended: Promise<number | null>
  /** Sends SIGINT like Ctrl-C: to the command and to all processes that it has started. */
  readonly interrupt: () => void
  /** True if any process of the command still runs. */
  readonly isRunning: () => boolean
  /** Kills all processes of the command, after a failed test. */
  readonly kill: () => void
}

/** Runs a command line in its own process group, like an interactive shell. */
export function type(line: string, cwd: string, env: Readonly<Record<string, string>> = {}): Typed {
  const [command = '', ...args] = line.split(' ')
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const group = -(child.pid as number)
  const written: string[] = []
  const heard = new Set<() => void>()
  const hear = (text: string) => {
    written.push(text)
    for (const look of heard) look()
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear)
  const output = () => written.join('')
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      return process.kill(group, name)
    } catch (error) {
      // The process group has no processes left.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
      throw error
    }
  }

  const said = (pattern: RegExp) =>
    new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output())
        if (found !== null) resolve(found.groups ?? {})
      }
      heard.add(look)
      look()
      void ended.then(() => reject(new Error(`it ended without a word of ${pattern}:\n${output()}`)))
    })
  return {
    output,
    said,
    ended,
    interrupt: () => void signal('SIGINT'),
    isRunning: () => signal(0),
    kill: () => void signal('SIGKILL'),
  }
}
