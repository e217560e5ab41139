import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.js'
import { wrapperProcesses, type Ancestor } from './wrapper-processes.js'

const LOOK_EVERY_MS = 250
/** Ancestor processes examined, at most. */
const MOST_ANCESTORS = 10

/**
 * The ids of the processes without which this one has no use: `npx`, `pnpm` and the like with their shells.
 * @param parentToo adds the direct parent, whatever it is.
 */
export function parentsNow(parentToo: boolean): ReadonlySet<number> {
  const wrappers = wrapperProcesses(ancestors())
  return new Set(parentToo ? [process.ppid, ...wrappers] : wrappers)
}

/** Resolves when the first of the processes has ended; never, if none ends. */
export async function parentEnded(parents: ReadonlySet<number>, clock: Clock): Promise<void> {
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

/** The ancestor processes, the nearest first; empty where the system does not list them (Windows). */
function ancestors(): readonly Ancestor[] {
  const found: Ancestor[] = []
  try {
    for (let pid = process.ppid; pid > 1 && found.length < MOST_ANCESTORS;) {
      const { command, parent } = process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
      found.push({ pid, command })
      pid = parent
    }
  } catch {
    // An ancestor that cannot be read ends the search; the ancestors found so far are returned.
  }
  return found
}

function fromProc(pid: number) {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  // The program's name, in parentheses, may contain any character, so everything up to the last `)` is cut off.
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
