import { appendFile, readdir, readFile, rename as move, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, dateOf } from '@muster/core/clock'
import { giveToOwner, makeFolder, oneAtATime } from '@muster/core/internal'

/**
 * A list of JSON strings that outlives the process, within bounds of time and size. It is a folder, or a stream in
 * Redis that several processes share.
 */
export interface EventStore {
  /** True if other processes append strings too. */
  readonly isShared: boolean
  /**
   * Calls `take` with all strings of earlier processes, the oldest first. If the store is shared, also calls `take`
   * with later strings from any process. Resolves once `take` got all strings that existed at the call. Call it at most
   * once.
   * @throws the error of the disk or of Redis; `take` got the strings that were read before the error
   */
  follow(take: (texts: readonly string[]) => void): Promise<void>
  /**
   * Resolves once the strings are stored. @throws the error of the disk or of Redis; then some or all may not be stored
   */
  append(texts: readonly string[]): Promise<void>
  /** Resolves once all running work has ended. Another call changes nothing. */
  close(): Promise<void>
}

/** The bounds of an event store. The first bound that is reached applies. */
export interface EventBounds {
  /** Milliseconds for which a string is kept. */
  readonly keepMs: number
  readonly mostBytes: number
}

interface FileEventStoreOptions extends EventBounds {
  /** A folder that only this store uses, inside a folder that this process has locked. Created at the first append. */
  readonly folder: string
  readonly clock: Pick<Clock, 'now' | 'wallStepMs'>
  /** Resolves after the event loop has run other work. */
  readonly yieldNow: () => Promise<void>
}

/** A file of the folder. Its name is its creation time in epoch milliseconds. */
interface Segment {
  path: string
  /** Creation time in epoch milliseconds. */
  startedAt: number
  /** True if this process writes the file, or wrote it. */
  readonly isOwn: boolean
  bytes: number
  /** True if a part of a line may be at the end. */
  isTorn: boolean
  /** The creation time before `dateBack`, and the step of the wall clock then. Undefined if it was not dated back. */
  dated?: { readonly from: number; readonly stepMs: number } | undefined
}

/** Number of files into which the folder's bounds are divided. Only whole files are removed, the oldest first. */
const SEGMENTS = 8
/** Number of lines that are read before the event loop runs again: some milliseconds of work. */
const SLICE = 5000
const NAME = /^(\d{1,16})\.ndjson$/

/** Resolves with false if the file or its folder is missing, because somebody has removed it. */
const unlessMissing = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

/**
 * Creates a store that writes strings into files of lines. Each process starts a new file, so that a line cut by a
 * crash damages only that process's file.
 */
export function createFileEventStore(options: FileEventStoreOptions): EventStore {
  const { folder, keepMs, mostBytes, clock, yieldNow } = options
  let segments: Segment[] | undefined
  let current: Segment | undefined
  /** Runs one step after another, because a segment must not be removed while it is read. */
  const inTurn = oneAtATime()

  const pathOf = (startedAt: number) => join(folder, `${startedAt}.ndjson`)
  const create = async (): Promise<void> => {
    await makeFolder(folder, 0o700)
    await giveToOwner(folder)
  }
  const list = async (): Promise<Segment[]> => {
    await create()
    const files = (await readdir(folder, { withFileTypes: true })).filter((one) => one.isFile() && NAME.test(one.name))
    const found = files.map(async ({ name }): Promise<Segment> => {
      const path = join(folder, name)
      return {
        path,
        startedAt: Number(NAME.exec(name)?.[1]),
        isOwn: false,
        bytes: (await stat(path)).size,
        isTorn: false,
      }
    })
    return (await Promise.all(found)).toSorted((one, other) => one.startedAt - other.startedAt)
  }
  const known = async (): Promise<Segment[]> => (segments ??= await list())

  const rename = async (segment: Segment, startedAt: number, dated: Segment['dated']): Promise<void> => {
    const path = pathOf(startedAt)
    await unlessMissing(move(segment.path, path))
    Object.assign(segment, { path, startedAt, dated })
  }
  /**
   * Dates files back that were begun while the clock was ahead, or they would be kept for too long. If the clock is set
   * forward later, it was behind then, and the files get their own dates again.
   */
  const dateBack = async (all: readonly Segment[], now: number): Promise<void> => {
    const stepMs = clock.wallStepMs?.() ?? 0
    for (const [index, segment] of all.entries()) {
      const { dated, startedAt } = segment
      if (dated !== undefined && stepMs - dated.stepMs > keepMs / SEGMENTS) await rename(segment, dated.from, undefined)
      else if (startedAt > now + keepMs / SEGMENTS)
        await rename(segment, Math.max(now, (all[index - 1]?.startedAt ?? 0) + 1), { from: startedAt, stepMs })
    }
  }

  const removeOld = async (all: Segment[]): Promise<void> => {
    // A segment is named by the time of its start, and written for at most an eighth of `keepMs`. Its last line may be
    // younger than its name by that much.
    const since = dateOf(clock) - keepMs - keepMs / SEGMENTS
    let bytes = all.reduce((sum, segment) => sum + segment.bytes, 0)
    for (;;) {
      const [oldest] = all
      const isTooMuch = bytes > mostBytes || (oldest?.startedAt ?? since) < since
      if (oldest === undefined || oldest === current || !isTooMuch) return
      await rm(oldest.path, { force: true })
      all.shift()
      bytes -= oldest.bytes
    }
  }

  const begun = async (bytes: number): Promise<Segment> => {
    const all = await known()
    const now = Math.floor(dateOf(clock))
    const isFull =
      current === undefined ||
      current.bytes + bytes > mostBytes / SEGMENTS ||
      Math.abs(now - current.startedAt) > keepMs / SEGMENTS
    if (current !== undefined && !isFull) return current
    await dateBack(all, now)
    // If the clock was set back, the name is raised above all earlier ones, so that no earlier process's file is
    // overwritten.
    const startedAt = Math.max(now, ...all.map((segment) => segment.startedAt + 1))
    current = { path: pathOf(startedAt), startedAt, isOwn: true, bytes: 0, isTorn: false }
    all.push(current)
    return current
  }

  return {
    isShared: false,
    follow: (take) =>
      inTurn(async () => {
        for (const { path, isOwn } of await known()) {
          if (isOwn) continue
          const lines = (await readFile(path, 'utf8')).split('\n')
          for (let from = 0; from < lines.length; from += SLICE) {
            take(lines.slice(from, from + SLICE).filter((line) => line !== ''))
            await yieldNow()
          }
        }
      }),
    append: (texts) =>
      inTurn(async () => {
        const lines = Buffer.from(texts.map((text) => `${text}\n`).join(''))
        const segment = await begun(lines.length)
        // A failed append may have left a part of a line, to which nothing may be joined.
        const begin = segment.isTorn ? '\n' : ''
        segment.isTorn = true
        const write = () => appendFile(segment.path, Buffer.concat([Buffer.from(begin), lines]), { mode: 0o600 })
        if (!(await unlessMissing(write()))) {
          await create()
          segment.bytes = 0
          await write()
        }
        if (segment.bytes === 0) await giveToOwner(segment.path)
        segment.isTorn = false
        segment.bytes += begin.length + lines.length
        await removeOld(await known())
      }),
    close: () => inTurn(async () => {}),
  }
}
