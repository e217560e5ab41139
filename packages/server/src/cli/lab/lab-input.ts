import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { nearestName } from '@muster/core/internal'
import type { RecordedCrowd, RecordingOptions } from '@muster/lab/internal'
import type { Queue } from '@muster/matchmaker'
import {
  checkPools,
  checkQueues,
  type withKeys,
  createFindings,
  type Finding,
  InvalidConfig,
  type PathFault,
  needTextFile,
  unreadableWords,
  readYaml,
  type Source,
} from '../../config/index.js'

/**
 * Reads a file with a crowd, or derives a crowd from a file with a recording.
 * @param file path, relative to `folder`.
 * @param options used only for a recording.
 * @returns the crowd, and sentences about what was omitted or assumed.
 * @throws {InvalidConfig} with the faults by line; `refusal` prints them
 */
export async function readCrowdFile(
  file: string,
  folder: string,
  options: RecordingOptions = {},
): Promise<RecordedCrowd> {
  const { InvalidCrowd } = await import('@muster/lab')
  const { readTraffic, splitLines } = await import('@muster/lab/internal')
  const path = resolve(folder, file)
  const stream = createReadStream(path)
  try {
    return await readTraffic(splitLines(stream), options)
  } catch (error) {
    if (error instanceof InvalidCrowd) {
      const { field = '', line, column = 1, wrong } = error
      throw InvalidConfig.because(file, wrong, { field, line, column })
    }
    if (stream.errored === error) throw InvalidConfig.because(file, await unreadableWords(error, path))
    throw error
  } finally {
    stream.destroy()
  }
}

/** Queues of a file, and their positions in it. */
export interface QueueFile {
  /** The path as given, for errors and reports. */
  readonly file: string
  /** At least one queue. Plain data, so it can be passed to `createMatchmaker` and to a worker thread. */
  readonly queues: readonly Queue[]
  /** The pools that the queues may name. Undefined for a file without pools: each match then has its own server. */
  readonly pools: ReturnType<typeof withKeys> | undefined
  /** The parsed text, for edits. The path of a queue begins with `queues` and its index. */
  readonly source: Source
  /** Creates a finding about the file, e.g. about a queue that does not suit an option. */
  locate(path: readonly string[], message: string, severity: Finding['severity']): Finding
}

/**
 * Reads the queues and pools of a YAML or JSON file. Other sections are ignored, so a whole configuration works too. A
 * queue may lack `deploy`, because the lab deploys nothing.
 * @param file path, relative to `folder`.
 * @throws {InvalidConfig} with all faults, by line and column; `refusal` prints them
 */
export async function readQueues(file: string, folder: string): Promise<QueueFile> {
  return readQueuesText(await needTextFile(resolve(folder, file), file), file)
}

/** Reads queues from a string. @throws like `readQueues` */
export function readQueuesText(text: string, file: string): QueueFile {
  const source = readYaml(text)
  const findings = createFindings(source)
  const { queues, pools, faults } = source.faults.length > 0 ? NONE : queuesIn(source.value)
  findings.faults(faults, source.value)
  const found = findings.sorted()
  if (found.length > 0) throw new InvalidConfig(file, found)
  return { file, queues, pools, source, locate: findings.locate }
}

const NONE = { queues: [], pools: undefined, faults: [] }

function queuesIn(value: unknown): Pick<QueueFile, 'queues' | 'pools'> & { readonly faults: readonly PathFault[] } {
  const wrong = (path: readonly string[], words: string) => ({
    queues: [],
    pools: undefined,
    faults: [{ path, message: words, wrong: words }],
  })
  if (value === null || value === undefined) return wrong([], 'is empty: it must have queues')
  if (typeof value !== 'object' || Array.isArray(value)) return wrong([], 'must be queues: and a list below it')
  if (!('queues' in value)) {
    const misspelt = Object.keys(value).find((name) => nearestName(name, ['queues']) !== undefined)
    return misspelt === undefined ? wrong([], 'has no queues') : wrong([misspelt], 'is not known; did you mean queues?')
  }
  const { queues } = value
  if (queues === null) return wrong(['queues'], 'is empty: write a list of queues below it')
  if (!Array.isArray(queues)) return wrong(['queues'], 'must be a list')
  if (queues.length === 0) return wrong(['queues'], 'must not be empty')
  if (!('pools' in value)) return { ...checkQueues(queues.map(withServer)), pools: undefined }
  const { pools: configured, faults, named } = checkPools(value.pools)
  const pools = configured.map(withLabKeys)
  const checked = checkQueues(
    queues.map((queue) => (namesPool(queue) ? queue : withServer(queue))),
    named,
  )
  return { queues: checked.queues, pools, faults: [...faults, ...checked.faults] }
}

/** Returns the pool with made-up keys. No server enrols in a simulation, so secrets are not read. */
const withLabKeys = (pool: ReturnType<typeof checkPools>['pools'][number], nth: number) => ({
  ...pool,
  enrol: pool.enrol.map((one, index) => ({ ...one, key: `${'lab'.repeat(11)}-${nth}-${index}` })),
})

const namesPool = (queue: unknown) => typeof queue === 'object' && queue !== null && 'pool' in queue

/** The `deploy` for a queue that has none. If the file has no pools, queues that name a pool get it too. */
const NO_SERVER = { application: 'lab', version: 'lab' }

function withServer(queue: unknown): unknown {
  if (typeof queue !== 'object' || queue === null || Array.isArray(queue) || hasDeploy(queue)) return queue
  const { pool: _, ...rest } = queue as { readonly pool?: unknown }
  return { ...rest, deploy: NO_SERVER }
}

/** Returns true if the queue has a `deploy`, even a misspelt one. */
const hasDeploy = (queue: object) =>
  Object.keys(queue).some((name) => name === 'deploy' || nearestName(name, ['deploy']) !== undefined)
