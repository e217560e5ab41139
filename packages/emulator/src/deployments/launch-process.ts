import { systemClock } from '@muster/core/clock'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Launch } from './launch.js'
import { processVariables } from './process-variables.js'

export interface LaunchProcessOptions {
  /** Default: this process's. */
  readonly cwd?: string | undefined
  /** What the process gets beside its deployment's variables, which take precedence. Default: this process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Variables of a deployment that are passed on although they decide what code runs or where programs are found, e.g.
   * `['NODE_OPTIONS']`. Default: none. NODE_OPTIONS, LD_*, PATH and their like are withheld, which the output then
   * says.
   */
  readonly passVariables?: readonly string[] | undefined
  /** Characters of output that are kept, the latest; at least 1. Default 65,536. */
  readonly outputLimit?: number | undefined
}

/** Milliseconds that output may still come after a process has ended. */
const LAST_WORDS_MS = 1000

/**
 * For the emulator's `launch`: runs each deployment as a process on this machine, with the deployment's
 * variables in its environment, less those that decide what code runs (see `passVariables`). It must listen on the
 * ports in SERVICE_PORT_{NAME}_INTERNAL. A stop is SIGTERM, and SIGKILL once the grace period is over. As in a
 * container, what the process has started ends with it (not on Windows). What the version says of image, command and
 * arguments is for real containers and plays no part. If this process exits without having closed the emulator, those
 * left are killed.
 *
 * @example createEmulator({ launch: launchProcess('node', ['server.js']) })
 * @throws RangeError for an outputLimit that there is not.
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
      // A process group of its own, so that it can be ended as a whole.
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
    // Rejects when there is no such command.
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

/** To the process and all that it has started. */
function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (onWindows || child.pid === undefined) child.kill(name)
    else process.kill(-child.pid, name)
  } catch {
    // Nothing of it is left.
  }
}

/** The exit code, or as shells have it 128 and the signal's number. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    // Also without this a failing spawn is noticed, but a failing kill must not end us.
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

/** The last `limit` characters of what is added. */
function createTail(limit: number) {
  let parts: string[] = []
  let length = 0
  const text = () => parts.join('').slice(-limit)
  return {
    text,
    add: (part: string) => {
      parts.push(part)
      length += part.length
      // Joined now and then only, so that much output in small parts stays cheap.
      if (length < 2 * limit) return
      parts = [text()]
      length = limit
    },
  }
}

/** Kills what is left when this process exits. */
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
