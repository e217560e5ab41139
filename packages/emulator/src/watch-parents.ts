import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Clock } from '@muster/core/clock'
import { wrapperProcesses, type Ancestor } from './wrapper-processes.js'

const LOOK_EVERY_MS = 250
/** More are not looked at. */
const MOST_ANCESTORS = 10

/**
 * The processes without which this one is of no use: `npx`, `pnpm` and the like with their shells.
 * @param parentToo the direct parent as well, whatever it is.
 */
export function parentsNow(parentToo: boolean): ReadonlySet<number> {
  const wrappers = wrapperProcesses(ancestors())
  return new Set(parentToo ? [process.ppid, ...wrappers] : wrappers)
}

/** Resolves when the first of them has ended; never, if none does. */
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
    // Somebody else's process cannot be signalled, but is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The nearest first; empty where the system does not say (Windows). */
function ancestors(): readonly Ancestor[] {
  const found: Ancestor[] = []
  try {
    for (let pid = process.ppid; pid > 1 && found.length < MOST_ANCESTORS;) {
      const { command, parent } = process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
      found.push({ pid, command })
      pid = parent
    }
  } catch {
    // What has been found counts.
  }
  return found
}

function fromProc(pid: number) {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  // The program's name, in parentheses, may hold anything.
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
