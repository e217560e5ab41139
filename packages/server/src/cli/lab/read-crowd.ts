import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { RecordedCrowd, RecordingOptions } from '@muster/lab'
import { InvalidConfig } from '../../config/finding.js'
import { unreadableWords } from '../../config/read-text.js'

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
  const { InvalidCrowd, readTraffic, splitLines } = await import('@muster/lab')
  const path = resolve(folder, file)
  const stream = createReadStream(path)
  const refuse = (
    message: string,
    place: { readonly field?: string; readonly line?: number; readonly column?: number } = {},
  ) => new InvalidConfig(file, [{ severity: 'error', field: '', message, ...place }])
  try {
    return await readTraffic(splitLines(stream), options)
  } catch (error) {
    if (error instanceof InvalidCrowd) {
      const { field = '', line, column = 1, wrong } = error
      throw refuse(wrong, { field, line, column })
    }
    if (stream.errored === error) throw refuse(await unreadableWords(error, path))
    throw error
  } finally {
    stream.destroy()
  }
}
