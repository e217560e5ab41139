import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A command as somebody types it into a terminal. */
export interface Typed {
  /** What it has written so far, to both of its outputs. */
  readonly output: () => string
  /** Resolves once the output matches, with the groups of the match; rejects if the command ends before. */
  readonly said: (pattern: RegExp) => Promise<Readonly<Record<string, string>>>
  /** Resolves with the exit code, once it has ended and its outputs are closed. */
  readonly ended: Promise<number | null>
  /** Ctrl-C: the terminal signals the command and all that it started. */
  readonly interrupt: () => void
  /** Whether anything that it started still runs. */
  readonly isRunning: () => boolean
  /** Ends all of it at once, if a test has failed. */
  readonly kill: () => void
}

/** Runs a command line in a process group of its own, as an interactive shell does. */
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
      // Nobody is left in the group.
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
