import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Clock } from '../time.js'

/** An ancestor of this process. */
interface Ancestor {
  readonly pid: number
  /** The process's program and arguments, separated by spaces. */
  readonly command: string
}

const NAMES = 'npm|npx|pnpm|pnpx|pn|yarn|yarnpkg|bun|bunx|corepack'
const packageManager = new RegExp(
  String.raw`^(\S*/)?(node( -\S+)* (\S*/)?(${NAMES})(-cli)?(\.[cm]?js)?|(${NAMES}))( |$)`,
)
/** The shell that package managers run scripts with: `sh -c 'muster-emulator'`. */
const shellOfScript = /^(\S*\/)?(busybox )?(sh|dash|ash|bash|zsh) -c /

/**
 * Returns the ids of `npx`, `pnpm` and the like and their shells, up to the outermost. A signal to any of these is
 * meant for this process. Wrappers do not always forward signals, and cannot forward SIGKILL. A shell above the
 * wrappers is a user's session. It is not included, because it may end before this process.
 * @param ancestors the nearest first.
 */
export function wrapperProcesses(ancestors: readonly Ancestor[]): readonly number[] {
  const other = ancestors.findIndex(({ command }) => !packageManager.test(command) && !shellOfScript.test(command))
  const candidates = other === -1 ? ancestors : ancestors.slice(0, other)
  const outermost = candidates.findLastIndex(({ command }) => packageManager.test(command))
  return candidates.slice(0, outermost + 1).map(({ pid }) => pid)
}

const LOOK_EVERY_MS = 250
/** Maximum number of ancestor processes that are examined. */
const MOST_ANCESTORS = 10

/**
 * Returns the ids of the processes without which this process has no use: `npx`, `pnpm` and the like, and their shells.
 * @param parentToo true to add the direct parent in any case.
 */
export function parentsNow(parentToo: boolean): ReadonlySet<number> {
  const wrappers = wrapperProcesses(ancestorProcesses())
  return new Set(parentToo ? [process.ppid, ...wrappers] : wrappers)
}

/** Resolves when the first of the processes has ended. Never resolves if there are none. */
async function parentEnded(parents: ReadonlySet<number>, clock: Clock): Promise<void> {
  const direct = process.ppid
  if (parents.size === 0) return new Promise(() => {})
  while (process.ppid === direct && Array.from(parents).every(isAlive)) await clock.sleep(LOOK_EVERY_MS)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Returns the ancestor processes, the nearest first; empty if the system does not list them (Windows). */
function ancestorProcesses(): readonly Ancestor[] {
  const found: Ancestor[] = []
  try {
    for (let pid = process.ppid; pid > 1 && found.length < MOST_ANCESTORS;) {
      const { command, parent } = process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
      found.push({ pid, command })
      pid = parent
    }
  } catch {
    // An ancestor that cannot be read ends the search. The ancestors found so far are returned.
  }
  return found
}

function fromProc(pid: number) {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  // The program's name, in parentheses, may contain any character, so everything up to the last `)` is removed.
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
  return { command, parent: Number(afterName.split(' ')[1]) }
}

function fromPs(pid: number) {
  const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [, parent = '0', command = ''] = /^\s*(\d+)\s+(.*)/.exec(line) ?? []
  return { command, parent: Number(parent) }
}

/** The signals that ask a process to end. A closed terminal sends SIGHUP. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type EndingSignal = (typeof ENDING_SIGNALS)[number]
/**
 * Milliseconds within which a second signal counts as the same one. The terminal sends one signal, and `npx` forwards
 * another.
 */
const SAME_SIGNAL_MS = 500

/**
 * Resolves when this process should end: at a signal, or when one of the parents has ended, such as the `npx` that
 * started it. A further signal ends the process immediately with exit code 1. Call it once.
 * @param parents the result of `parentsNow`, called when the process started.
 * @param signals those that end this process. Default: all that ask for it.
 */
export function terminationRequested(
  parents: ReadonlySet<number>,
  clock: Clock,
  signals: readonly EndingSignal[] = ENDING_SIGNALS,
): Promise<void> {
  return new Promise((resolve) => {
    let requestedAt: number | undefined
    const request = () => {
      requestedAt ??= clock.now()
      if (clock.now() - requestedAt > SAME_SIGNAL_MS) process.exit(1)
      resolve()
    }
    for (const signal of signals) process.on(signal, request)
    // A parent that ends while this process is ending must not end this process immediately, as a second signal would.
    void parentEnded(parents, clock).then(resolve)
  })
}
