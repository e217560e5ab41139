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
 * Reads a file with a crowd, or with a recording, of which it makes one.
 * @param file path, relative to `folder`.
 * @param options for a recording.
 * @returns with what had to be left out or supposed, in sentences.
 * @throws {InvalidConfig} with what is wrong, by line: for `refusal`
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

/** Queues of a file, and where they stand in it. */
export interface QueueFile {
  /** The path as it was given: what errors and reports call the file. */
  readonly file: string
  /** At least one. Plain data: `createMatchmaker` takes them, and so does a worker thread. */
  readonly queues: readonly Queue[]
  /** Those that the queues may name. Undefined for a file without: each match has a server of its own then. */
  readonly pools: ReturnType<typeof withKeys> | undefined
  /** The text and its tree, for those who change it; the path of a queue begins with `queues` and its index. */
  readonly source: Source
  /** Makes a finding about the file, e.g. of a queue that does not suit an option. */
  locate(path: readonly string[], message: string, severity: Finding['severity']): Finding
}

/**
 * Reads the queues and pools of a file, YAML or JSON: a whole configuration, of which nothing else is looked at, or a
 * file with only these. A queue may lack `deploy`, since the lab deploys nothing.
 * @param file path, relative to `folder`.
 * @throws {InvalidConfig} with all that is wrong, by line and column: for `refusal`
 */
export async function readQueues(file: string, folder: string): Promise<QueueFile> {
  return readQueuesText(await needTextFile(resolve(folder, file), file), file)
}

/** Reads queues from a text. @throws as `readQueues` */
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

/** Secrets are not read: nobody enrols in a simulation. */
const withLabKeys = (pool: ReturnType<typeof checkPools>['pools'][number], nth: number) => ({
  ...pool,
  enrol: pool.enrol.map((one, index) => ({ ...one, key: `${'lab'.repeat(11)}-${nth}-${index}` })),
})

const namesPool = (queue: unknown) => typeof queue === 'object' && queue !== null && 'pool' in queue

/** What a queue without `deploy` gets, and each match of a queue with a pool where there are no pools. */
const NO_SERVER = { application: 'lab', version: 'lab' }

function withServer(queue: unknown): unknown {
  if (typeof queue !== 'object' || queue === null || Array.isArray(queue) || hasDeploy(queue)) return queue
  const { pool: _, ...rest } = queue as { readonly pool?: unknown }
  return { ...rest, deploy: NO_SERVER }
}

/** Whether it has one, even if it is misspelt. */
const hasDeploy = (queue: object) =>
  Object.keys(queue).some((name) => name === 'deploy' || nearestName(name, ['deploy']) !== undefined)
