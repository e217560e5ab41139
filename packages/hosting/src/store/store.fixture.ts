import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { type Op, readStore } from './store-format.js'
import { openStore, type StoreOptions } from './file-store.js'
import type { Store, StoreRecords, StoreRecord } from './store.js'

/** Creates a temporary folder for the files of a test file. */
export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'muster-store-'))
  let files = 0
  return {
    newPath: () => join(folder, `log-${files++}`),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** Reads the records that the file contains now, without the name of its owner. */
export const readBack = (path: string, bytes = readFileSync(path)) => {
  const { records } = readStore(path, bytes)
  return new Map([...records].filter(([kind]) => kind !== 'name').map(([kind, all]) => [kind, [...all.values()]]))
}

/** A random change of a record. */
export interface Step {
  readonly kind: string
  readonly op: Op
  readonly key: string
  readonly value: string
}

const line = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.json(),
)
export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('a', 'b-c'),
  op: fc.constantFrom<Op>('=', '=', '~', '-'),
  key: fc.oneof(fc.constantFrom('x', 'y', 'ø\t\n"'), fc.string()),
  value: line,
})

/** The records that a store should contain. */
export class Model {
  readonly kinds = new Map<string, Map<string, StoreRecord>>()

  apply({ kind, op, key, value }: Step): void {
    const records = this.kinds.get(kind) ?? new Map<string, StoreRecord>()
    this.kinds.set(kind, records)
    const before = records.get(key)
    if (op === '~') {
      if (before !== undefined) records.set(key, { ...before, change: value })
      return
    }
    records.delete(key)
    if (op === '=') records.set(key, { key, value })
  }

  live(kind: string): Iterable<StoreRecord> {
    return this.kinds.get(kind)?.values() ?? []
  }

  /** Returns all records in the format of `readBack`. */
  all(): Map<string, StoreRecord[]> {
    return new Map(
      [...this.kinds].map(([kind, records]): [string, StoreRecord[]] => [kind, [...records.values()]]).filter(hasSome),
    )
  }
}

export const hasSome = ([, records]: readonly [string, readonly StoreRecord[]]) => records.length > 0

/** Opens a store whose current records are those of a model. */
export async function openModelled(path: string, options: Partial<StoreOptions> = {}) {
  const clock = createManualClock()
  const log = await openStore({ path, clock, fsync: 'never', ...options })
  const problems: unknown[] = []
  log.attach({ name: 'test', problem: (error) => void problems.push(error) })
  return { clock, log, problems, ...modelled(log) }
}

export function modelled(log: Pick<Store, 'records'>) {
  const model = new Model()
  const kinds = new Map<string, StoreRecords>()
  for (const kind of ['a', 'b-c'])
    kinds.set(
      kind,
      log.records(kind, () => model.live(kind)),
    )
  const take = (one: Step) => {
    model.apply(one)
    const records = kinds.get(one.kind)
    if (one.op === '=') records?.put(one.key, one.value)
    else if (one.op === '~') records?.change(one.key, one.value)
    else records?.remove(one.key)
  }
  const records = kinds.get('a') as StoreRecords
  return { model, take, records }
}
