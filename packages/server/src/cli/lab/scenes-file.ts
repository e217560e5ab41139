import { dirname, join, resolve } from 'node:path'
import type { Scene } from '@muster/lab'
import { InvalidConfig, type Finding } from '../../config/finding.js'
import { createFindings } from '../../config/findings.js'
import { readTextFile } from '../../config/read-text.js'
import { readYaml, type Source } from '../../config/yaml-source.js'
import { readQueues, readQueuesText, type QueueFile } from './read-queues.js'

/** Largest file of scenes in bytes. */
const LARGEST_FILE = 2 ** 20

/** Most warnings that are told. */
const MOST_WARNINGS = 50

/** Scenes of a file that may be run. */
export interface ScenesFile {
  readonly file: string
  /** The file of the queues that the scenes are about. */
  readonly queuesFile: string
  readonly scenes: readonly Scene[]
  readonly warnings: readonly Finding[]
  placeOf(path: readonly string[]): { readonly line: number; readonly column: number }
}

/** A file that cannot be used: of scenes, or of their queues. */
export class WrongFile extends Error {
  readonly file: string
  readonly error: InvalidConfig

  static {
    this.prototype.name = 'WrongFile'
  }

  constructor(file: string, error: InvalidConfig) {
    super(error.message)
    this.file = file
    this.error = error
  }
}

/**
 * Reads a file of scenes, and the queues that it names.
 * @param queues a file of queues in place of the one that the scenes name.
 * @throws {WrongFile} with all that is wrong with either
 */
export async function readScenes(file: string, folder: string, queues: string | undefined): Promise<ScenesFile> {
  const refused = (finding: Pick<Finding, 'field' | 'message'>) =>
    new WrongFile(file, new InvalidConfig(file, [{ severity: 'error', ...finding }]))
  const read = await readTextFile(resolve(folder, file), LARGEST_FILE)
  if (read.wrong !== undefined) throw refused({ field: '', message: read.wrong })
  const source = readYaml(read.text)
  const findings = createFindings(source)
  const refuse = (path: readonly string[], message: string) => {
    findings.of(path, message)
    return new WrongFile(file, new InvalidConfig(file, findings.sorted()))
  }
  if (source.faults.length > 0) throw new WrongFile(file, new InvalidConfig(file, findings.sorted()))
  const { value } = source
  if (value === null || value === undefined) throw refuse([], 'is empty: it must have scenes')
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse([], 'must be queues: and scenes:')
  const named = (value as { readonly queues?: unknown }).queues
  if (queues === undefined && typeof named !== 'string' && !Array.isArray(named))
    throw refuse('queues' in value ? ['queues'] : [], 'names no queues: write queues: ./muster.yaml, or give --queues')
  const found = await queuesOf(queues, named, { file, folder, text: read.text })
  const { checkScenes } = await import('@muster/lab')
  const { scenes, faults } = checkScenes(value, found.queues)
  const errors = faults.filter(({ severity }) => severity === 'error')
  findings.faults(errors, value)
  const warnings = faults.filter(({ severity }) => severity === 'warning')
  for (const { path, message } of warnings.slice(0, MOST_WARNINGS)) findings.of(path, message, 'warning')
  const all = findings.sorted()
  if (errors.length > 0) throw new WrongFile(file, new InvalidConfig(file, all))
  return { file, queuesFile: found.file, scenes, warnings: all, placeOf: (path) => positionIn(source, path) }
}

const positionIn = (source: Source, path: readonly string[]) => source.positionOf(source.placeOf(path, 'name'))

async function queuesOf(
  given: string | undefined,
  named: unknown,
  { file, folder, text }: { readonly file: string; readonly folder: string; readonly text: string },
): Promise<QueueFile> {
  const isInline = given === undefined && typeof named !== 'string'
  const path = given ?? (typeof named === 'string' ? join(dirname(file), named) : file)
  try {
    return isInline ? readQueuesText(text, file) : await readQueues(path, folder)
  } catch (error) {
    throw error instanceof InvalidConfig ? new WrongFile(path, error) : error
  }
}
