import { systemClock } from '@muster/core/clock'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Launch } from './launch.js'
import { processVariables } from './process-variables.js'

export interface LaunchProcessOptions {
  /** The working directory of the process. Default: this process's. */
  readonly cwd?: string | undefined
  /**
   * Environment variables of the process; the deployment's variables take precedence. Default: this process's
   * environment.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Deployment variables that are passed on although they decide what code runs or where programs are found, e.g.
   * `['NODE_OPTIONS']`. Default: none. NODE_OPTIONS, LD_*, PATH and the like are withheld; the process's output names
   * them.
   */
  readonly passVariables?: readonly string[] | undefined
  /** Characters of output kept, counted from the end; at least 1. Default 65,536. */
  readonly outputLimit?: number | undefined
}

/** Milliseconds for which output is still read after the process has ended. */
const LAST_WORDS_MS = 1000

/**
 * Makes the emulator's `launch` option: each deployment runs as a process on this machine. The process gets the
 * deployment's variables, except those that decide what code runs (see `passVariables`), and must listen on the ports
 * in SERVICE_PORT_{NAME}_INTERNAL. A stop sends SIGTERM, then SIGKILL once the grace period is over. As in a container,
 * the process's children end with it (not on Windows). The version's image, command and arguments are ignored: they are
 * for real containers. If this process exits without closing the emulator, the remaining processes are killed.
 *
 * @example createEmulator({ launch: launchProcess('node', ['server.js']) })
 * @throws RangeError for an invalid outputLimit.
 */
export function launchProcess(
  command: string,
  args: readonly string[] = [],
  options: LaunchProcessOptions = {},
): Launch {
  const { cwd, env = process.env, outputLimit = 65_536 } = options
  const allowed = new Set(options.passVariables)
  if (!Number.isInteger(outputLimit) || outputLimit < 1) {
    throw new RangeError(`outputLimit must be an integer of at least 1, not ${outputLimit}`)
  }
  const guard = createExitGuard()

  return async (spec) => {
    const { passed, withheld } = processVariables(spec.env, allowed)
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, ...passed },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The process gets a process group of its own, so that a signal reaches its children too.
      detached: !onWindows,
      windowsHide: true,
    })
    const output = createTail(outputLimit)
    if (withheld.length > 0)
      output.add(`emulator: withheld from this local process: ${withheld.join(', ')} (see passVariables)\n`)
    child.stdout.setEncoding('utf8').on('data', output.add)
    child.stderr.setEncoding('utf8').on('data', output.add)
    const ended = new AbortController()
    const exited = exitOf(child)
    void exited.then(() => ended.abort())
    guard(child)
    // The wait rejects when the command does not exist.
    await once(child, 'spawn')

    return {
      exited,
      logs: output.text,
      stop: (graceMs) => {
        if (ended.signal.aborted) return
        signal(child, 'SIGTERM')
        void systemClock.sleep(graceMs, ended.signal).then(
          () => signal(child, 'SIGKILL'),
          () => {},
        )
      },
    }
  }
}

const onWindows = process.platform === 'win32'

/** Sends a signal to the process and its children. */
function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (onWindows || child.pid === undefined) child.kill(name)
    else process.kill(-child.pid, name)
  } catch {
    // The process and its children have ended already.
  }
}

/** The exit code; for a process ended by a signal, 128 plus the signal's number, as in shells. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    // Without a listener, a failing kill would end this process. A failing spawn is noticed elsewhere.
    child.on('error', () => {})
    child.once('exit', (code, by) => {
      signal(child, 'SIGKILL')
      const exitCode = code ?? 128 + (by === null ? 0 : constants.signals[by])
      const over = new AbortController()
      const done = () => resolve(exitCode)
      child.once('close', () => over.abort())
      void systemClock.sleep(LAST_WORDS_MS, over.signal).then(done, done)
    })
  })

/** A buffer that keeps the last `limit` characters added. */
function createTail(limit: number) {
  let parts: string[] = []
  let length = 0
  const text = () => parts.join('').slice(-limit)
  return {
    text,
    add: (part: string) => {
      parts.push(part)
      length += part.length
      // Chunks are joined only once they hold twice the limit, so that many small chunks stay cheap.
      if (length < 2 * limit) return
      parts = [text()]
      length = limit
    },
  }
}

/** Kills the remaining processes when this process exits. */
function createExitGuard() {
  const children = new Set<ChildProcess>()
  const killAll = () => {
    for (const child of children) signal(child, 'SIGKILL')
  }
  return (child: ChildProcess) => {
    if (children.size === 0) process.on('exit', killAll)
    children.add(child)
    const gone = () => {
      children.delete(child)
      if (children.size === 0) process.off('exit', killAll)
    }
    child.once('exit', gone)
    child.once('error', gone)
  }
}
