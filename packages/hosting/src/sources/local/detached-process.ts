import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, link, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { InvalidInput, ServerError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { makeFolder, newId, unguessable, within } from '@muster/core/internal'

/**
 * A process on this machine that survives the end of the Muster process. Its folder has these files:
 *
 * - `claim`: the id of its process group, or `stopped` if it must never start. The file is created once, by link(2),
 *   which fails if it exists;
 * - `alive`: a FIFO that the process and its children hold open, so that the kernel knows whether one of them runs.
 *   Processes that have left the process group may hold it open, too;
 * - `exit`: its exit code, once it has ended by itself; `output` and `output.1`: its output.
 */
export interface DetachedCommand {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Bytes above which the file `output` is rotated, every 5 s and at the end of the command. */
  readonly outputLimit: number
}

export interface ProcessState {
  readonly status: 'running' | 'failed' | 'ended' | 'unknown'
  /** Why the process failed. Only with the status `failed`. */
  readonly detail?: string | undefined
}

/** Milliseconds between two checks whether a process has ended. */
const LOOK_MS = 50
/** Milliseconds within which SIGKILL ends a process, unless the kernel blocks it. */
const KILLED_MS = 2000
/** Milliseconds after which a shell that has not started its command is killed (our choice). */
const START_MS = 10_000
const STOPPED = 'stopped'

/**
 * A shell script that runs the command and waits for it. Its arguments are the folder, the output limit, the working
 * directory and the command. It closes descriptor 3 once the file `claim` exists. A second script for the same folder
 * exits without starting anything. When the command ends, the rest of its process group is killed, as in a container.
 *
 * Every 5 s the script rotates the output, even while no Muster runs. A line that is written during a rotation may be
 * lost.
 */
const SCRIPT = `
cd -- "$1" || exit 1
exec >>output 2>&1
trap : TERM
[ -p alive ] || mkfifo alive 2>/dev/null
[ -p alive ] || exit 1
exec 9<>alive
echo $$ >claim.$$ && ln claim.$$ claim 2>/dev/null
won=$?
rm -f claim.$$
[ $won = 0 ] || exit 1
exec 3>&-
rotate() {
  [ $(wc -c <output) -le "$1" ] || { tail -c "$1" output >output.new && mv output.new output.1 && : >output; }
}
(
  exec 9>&-
  while sleep 5 && kill -0 $$ 2>/dev/null; do rotate "$2"; done
) &
record=$1 most=$2
cd -- "$3" || { echo 1 >"$record/exit"; kill -KILL -$$; }
shift 3
"$@"
code=$?
cd -- "$record" && rotate "$most"
echo $code >"$record/exit.new" && mv "$record/exit.new" "$record/exit"
kill -KILL -$$
`

/**
 * Starts the command, unless the folder already has a file `claim`.
 * @throws {ServerError} if nothing was started
 */
export async function startDetached(
  folder: string,
  { command, cwd, env, outputLimit }: DetachedCommand,
  clock: Clock,
): Promise<void> {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder, String(outputLimit), cwd, ...command], {
    env,
    // The child gets its own process group and session, so that it gets no signals of the terminal and survives this
    // process.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const decided = child.stdio[3] as Readable
  await once(child, 'spawn')
  child.on('error', () => {})
  child.unref()
  const closed = once(decided.resume(), 'close')
  if ((await within(closed, START_MS, clock)) === undefined) {
    // The shell hangs, e.g. because its file system does. Later starts must not wait for it.
    child.kill('SIGKILL')
    decided.destroy()
  }
  if ((await claimOf(folder)) === undefined)
    throw new ServerError(`allocate: the process could not be started: see the file ${join(folder, 'output')}`, {
      operation: 'allocate',
    })
}

/** Returns the state of the process in this folder. */
export async function stateOf(folder: string): Promise<ProcessState> {
  const claim = await claimOf(folder)
  if (claim === undefined) return { status: 'unknown' }
  if (claim === STOPPED) return { status: 'ended' }
  const lives = await isAlive(folder)
  // Read the code after the check: it is written before the last process closes the FIFO.
  const code = await textOf(join(folder, 'exit'))
  if (code === undefined) return lives ? { status: 'running' } : { status: 'failed', detail: 'was killed' }
  return code.trim() === '0' ? { status: 'ended' } : { status: 'failed', detail: `exit code ${code.trim()}` }
}

/**
 * Ends a process and its children, or prevents that the process ever starts. Resolves once that is certain.
 * @param graceMs milliseconds between SIGTERM and SIGKILL
 * @throws {ServerError} if the process still runs
 */
export async function stopDetached(folder: string, graceMs: number, clock: Clock): Promise<void> {
  await makeFolder(folder, 0o700)
  // The stop of a started process writes no file, so that it succeeds on a full disk.
  if ((await claimOf(folder)) === undefined && (await writeClaim(folder, STOPPED))) return
  const group = Number(await claimOf(folder))
  if (!(group > 1)) return
  for (const [signal, withinMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', KILLED_MS],
  ] as const) {
    // While one of its processes runs, the id of a process group is not reused, so no other process can be hit.
    if (!(await isAlive(folder))) return
    send(group, signal)
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
      if (!(await isAlive(folder))) return
      await clock.sleep(LOOK_MS)
    }
  }
  if (await isAlive(folder))
    throw new ServerError('stop: the process is still running after SIGKILL', { operation: 'stop' })
}

/** True if a process of the group runs. */
export async function isAlive(folder: string): Promise<boolean> {
  try {
    const end = await open(join(folder, 'alive'), constants.O_WRONLY | constants.O_NONBLOCK)
    await end.close()
    const group = Number(await claimOf(folder))
    // A daemon that has left the group may hold the FIFO open for long after the group has ended.
    return !(group > 1) || hasMembers(group)
  } catch (error) {
    // ENXIO: no process has opened the FIFO for reading.
    if (['ENXIO', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}

/** Returns the end of the output. @param most maximum number of bytes of each of the two files */
export async function outputOf(folder: string, most: number): Promise<string> {
  const parts = await Promise.all(['output.1', 'output'].map((name) => endOf(join(folder, name), most)))
  return parts.join('')
}

/** Returns the last bytes of a file as text. A file may be large, because it is rotated only every 5 s. */
async function endOf(path: string, most: number): Promise<string> {
  const file = await open(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  })
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, most)),
      position: size - Math.min(size, most),
    })
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Creates the file `claim` with this text. Resolves with false if the file already exists. */
async function writeClaim(folder: string, text: string): Promise<boolean> {
  const own = join(folder, `claim.${newId(unguessable)}`)
  await writeFile(own, text, { mode: 0o600 })
  try {
    await link(own, join(folder, 'claim'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    await rm(own, { force: true })
  }
}

const claimOf = async (folder: string) => (await textOf(join(folder, 'claim')))?.trim()

/** Returns the content of a file. Undefined if the file does not exist. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** True if a process of the group exists. */
function hasMembers(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch (error) {
    // EPERM: the processes belong to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function send(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    // ESRCH: all processes of the group have ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** @throws {InvalidInput} on Windows */
export function assertPosix(platform: string = process.platform): void {
  if (platform === 'win32')
    throw new InvalidInput('command: servers of this machine need /bin/sh and FIFOs, which Windows lacks', {
      field: 'command',
    })
}
