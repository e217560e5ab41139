import type { Store, StoreMemory, StoreRecord } from '@muster/hosting'
import { Unavailable } from '../errors.js'

interface MortalStoreOptions {
  /** The data that survives the death of a process. */
  readonly disk: StoreMemory
  readonly isFull: () => boolean
  readonly isDead: () => boolean
  /** Called before and after each write. It may kill the process. */
  readonly writing: (isDone: boolean) => void
}

/** Creates a store whose process may die. After its death, unflushed data is lost, and nothing is written. */
export function createMortalStore({ disk, isFull, isDead, writing }: MortalStoreOptions): Store {
  let pending: (() => void)[] = []
  let isFailing = false
  let isClosed = false
  const ofKind = (kind: string) => {
    const records = disk.get(kind) ?? new Map<string, StoreRecord>()
    disk.set(kind, records)
    return records
  }
  const flush = () => {
    if (isDead() || isClosed) return
    isFailing = isFull()
    if (isFailing) return
    for (const apply of pending) apply()
    pending = []
  }
  const later = (apply: () => void) => {
    if (pending.length === 0) queueMicrotask(flush)
    pending.push(apply)
  }

  const change = (records: Map<string, StoreRecord>, key: string, changed: string) => {
    const before = records.get(key)
    if (before !== undefined) records.set(key, { ...before, change: changed })
  }
  const put = (records: Map<string, StoreRecord>, key: string, value: string) => {
    records.delete(key)
    records.set(key, { key, value })
  }
  const write = (changes: Parameters<Store['write']>[0]) => {
    writing(false)
    if (isDead()) return
    flush()
    if (isFull()) {
      isFailing = true
      throw new Unavailable('the disk is full')
    }
    for (const { kind, key, value, change: changed } of changes) {
      const records = ofKind(kind)
      if (value !== undefined) put(records, key, value)
      if (changed !== undefined) change(records, key, changed)
      if ((value ?? changed) === undefined) records.delete(key)
    }
    isFailing = false
    writing(true)
  }

  return {
    isFailing: () => isFailing,
    attach: () => {},
    write,
    records: (kind) => {
      const records = ofKind(kind)
      let stored: readonly StoreRecord[] = [...records.values()]
      return {
        stored: () => {
          const all = stored
          stored = []
          return all
        },
        write: (changes) => write(changes.map((one) => ({ ...one, kind }))),
        put: (key, value) => later(() => put(records, key, value)),
        change: (key, changed) => later(() => change(records, key, changed)),
        remove: (key) => later(() => records.delete(key)),
      }
    },
    flush,
    sync: () => undefined,
    advance: () => {
      flush()
      return Promise.resolve()
    },
    isClosed: () => isClosed,
    close: () => {
      flush()
      isClosed = true
      return Promise.resolve()
    },
  }
}
