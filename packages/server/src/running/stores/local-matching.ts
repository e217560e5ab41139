import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@muster/core/clock'
import { createMemoryLimitStore } from '@muster/core/http'
import { giveToOwner, makeFolder } from '@muster/core/internal'
import {
  createMatchmaker,
  type Matchmaker,
  openStore,
  type Store,
  type StoreOptions,
  StoreLocked,
  Unavailable,
} from '@muster/matchmaker'
import { type StoreConfig, storeFilesIn, withKeys } from '../../config/index.js'
import { type OpenEvents, createFileEventStore } from '../../console/index.js'
import { type Matching, type MatchingOptions, matchmakerOptions } from './matching.js'

const BYTES = 32

/**
 * Reads this program's own key from a file that only this user can read, or creates the key. A file of another length
 * was not completely written, so nothing was signed with its content, and it is replaced. Only one process at a time
 * may call this.
 */
async function readOwnKey(path: string): Promise<Uint8Array> {
  const found = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`The key of stream tokens ${path} cannot be read: ${error.message}.`, { cause: error })
  })
  if (found?.length === BYTES) return found
  const key = randomBytes(BYTES)
  const beside = `${path}.new`
  const file = await open(beside, 'w', 0o600)
  try {
    await giveToOwner(beside, file)
    await file.writeFile(key)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
  return key
}

/** Creates a matchmaker that only this process uses. Its data is in memory or in a folder. */
export async function openLocalMatching(options: MatchingOptions): Promise<Matching> {
  const { config, clock, onProblem } = options
  const remembered = config.store.kind === 'folder' ? await openFolder(config.store, clock, onProblem) : {}
  const matchmaker = await createOver(options, remembered)
  return {
    service: matchmaker,
    matchmaker,
    on: matchmaker.on,
    observed: matchmaker,
    webhook: matchmaker.webhook,
    start: matchmaker.start,
    checks: [() => (remembered.store?.isFailing() === true ? 'the store cannot be written' : heldReason(matchmaker))],
    reconfigure: ({ queues, pools }) =>
      matchmaker.reconfigure(queues, { pools: withKeys(pools) }).refused.map(({ ticket, queue, error }) => ({
        queue,
        ticketId: ticket.id,
        reason: error.message,
      })),
    close: async (timeoutMs) => {
      const left = await matchmaker.close({ timeoutMs })
      for (const { matchId } of left)
        onProblem(
          'close',
          new Error(
            `The stop of the server of match ${matchId} was not confirmed in time. The next process repeats it.`,
          ),
        )
    },
    // The limit store is kept here, because a reload rebuilds the APIs and must not reset their limits.
    shared: { limitStore: createMemoryLimitStore(clock) },
    store: remembered.store,
    openEvents: config.store.kind === 'folder' ? eventsIn(config.store.path, clock) : undefined,
    streamKey: remembered.streamKey,
  }
}

function heldReason(matchmaker: Matchmaker): string | undefined {
  try {
    return matchmaker.inspect().blockedBy === 'store' ? 'the store cannot be written' : undefined
  } catch (error) {
    if (error instanceof Unavailable) return error.message
    throw error
  }
}

/** Opens event stores inside the folder, which this process has locked. */
const eventsIn =
  (path: string, clock: Clock): OpenEvents =>
  (name, bounds) =>
    createFileEventStore({
      ...bounds,
      folder: join(path, name),
      clock,
      yieldNow: () => new Promise((resolve) => setImmediate(resolve)),
    })

/** Creates the matchmaker. If that fails, releases the folder. */
async function createOver(options: MatchingOptions, { store }: OpenedFolder): Promise<Matchmaker> {
  try {
    return createMatchmaker({ ...matchmakerOptions(options), store })
  } catch (error) {
    await store?.close()
    throw error
  }
}

type Folder = Extract<StoreConfig, { readonly kind: 'folder' }>
interface OpenedFolder {
  readonly store?: Store
  readonly streamKey?: Uint8Array
}

/** Milliseconds for which a start waits until the previous process has released the folder (our choice). */
const LOCKED_MS = 15_000
const LOOK_EVERY_MS = 250

/** Opens the folder for this user only, because it contains players' addresses and secrets of servers. */
async function openFolder(
  { path, fsync }: Folder,
  clock: Clock,
  onProblem: MatchingOptions['onProblem'],
): Promise<OpenedFolder> {
  await makeFolder(path, 0o700).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The folder ${path} of \`store\` cannot be created: ${error.message}.`, { cause: error })
  })
  const storeOptions: StoreOptions = { ...storeFilesIn(path), fsync, clock }
  const until = clock.now() + LOCKED_MS
  for (;;) {
    try {
      const store = await openStore(storeOptions)
      return { store, streamKey: await readStreamKey(store, join(path, 'streams.key')) }
    } catch (error) {
      if (!(error instanceof StoreLocked) || clock.now() >= until) throw error
      onProblem('start', new Error('Another process uses the store folder. Waiting for it to end.'))
      await clock.sleep(LOOK_EVERY_MS)
    }
  }
}

/** Reads the key after the folder is locked. Otherwise two processes that start together would create two keys. */
async function readStreamKey(store: Store, path: string): Promise<Uint8Array> {
  try {
    return await readOwnKey(path)
  } catch (error) {
    await store.close()
    throw error
  }
}
