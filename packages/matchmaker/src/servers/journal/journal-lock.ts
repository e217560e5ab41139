import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { JournalLocked } from './journal-errors.js'

/** Who has a lock, as its file says. */
interface Holder {
  readonly host: string
  readonly pid: number
  /** Tells the process from an earlier one with the same number, where the system tells it. */
  readonly started: string | undefined
}

/** Locks held by this process, by path. */
const held = new Set<string>()
let attempts = 0

/**
 * Makes `path` the lock of this process: nobody else on this machine gets it while the process lives. The lock of a
 * process that was killed is taken over.
 * @returns what gives the lock back.
 * @throws {JournalLocked}
 */
export async function takeLock(path: string): Promise<() => Promise<void>> {
  if (held.has(path)) throw new JournalLocked('the journal is open in this process already', process.pid)
  held.add(path)
  try {
    await claim(path)
  } catch (error) {
    held.delete(path)
    throw error
  }
  return async () => {
    held.delete(path)
    await unlink(path)
  }
}

async function claim(path: string): Promise<void> {
  attempts += 1
  const mine = `${path}.${process.pid}.${attempts}`
  await writeFile(mine, JSON.stringify(ourselves()))
  try {
    while (!(await isLinked(mine, path))) await removeStale(path, `${mine}.old`)
  } finally {
    await unlink(mine)
  }
}

/** A link to a file that is complete: nobody sees a lock without a holder. False if there is one already. */
async function isLinked(mine: string, path: string): Promise<boolean> {
  try {
    await link(mine, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** @throws {JournalLocked} if its holder lives, or may live. */
async function removeStale(path: string, aside: string): Promise<void> {
  const holder = await holderOf(path)
  if (holder === undefined) return
  assertGone(holder, path)
  // Of several who find it stale one moves it; and what was moved may be the lock of another one who was faster.
  try {
    await rename(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const moved = await holderOf(aside)
  if (moved !== undefined && JSON.stringify(moved) !== JSON.stringify(holder)) {
    await link(aside, path).catch(() => {})
    await unlink(aside)
    assertGone(moved, path)
  } else {
    await unlink(aside)
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const { host, pid, started } = JSON.parse(await readFile(path, 'utf8')) as Holder
    return { host, pid, started }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new JournalLocked(`the journal's lock cannot be read: remove ${path} if no matchmaker is running`)
  }
}

function assertGone({ host, pid, started }: Holder, path: string): void {
  if (host !== hostname()) {
    throw new JournalLocked(`the journal is locked by process ${pid} of ${host}: remove ${path} if that is gone`, pid)
  }
  // In a container, the process before had our number.
  if (pid === process.pid || !isAlive(pid) || (started !== undefined && started !== startOf(pid))) return
  throw new JournalLocked(`the journal is in use by process ${pid}`, pid)
}

const ourselves = (): Holder => ({ host: hostname(), pid: process.pid, started: startOf(process.pid) })

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Boot of the system and start of the process since then, where /proc tells it. */
function startOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses, which may hold anything.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${boot} ${start}`
  } catch {
    return undefined
  }
}
