import { readFile, realpath } from 'node:fs/promises'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '@muster/lab/internal'
import type { Queue } from '@muster/matchmaker'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { stringify } from 'yaml'
import { replaceFile, definitionIn, editQueue, NotEdited } from '../../running/index.js'
import { type QueueFile, readQueuesText } from './lab-input.js'

/**
 * Returns the difference of two texts as a patch for `git apply` and `patch -p1`; empty if they are equal.
 * @param file path, with `/`, within the folder in which the patch is applied.
 */
export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return ''
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY }
  return createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, options)
}

/**
 * Returns the file's text with the tuned schedules of one queue. Everything else, comments included, stays unchanged.
 */
export async function tunedText(file: QueueFile, queue: Queue, changes: readonly Change[]): Promise<string> {
  const { withChanges } = await import('@muster/lab/internal')
  const { text } = file.source
  const changing = changes.filter(({ was, is }) => !isDeepStrictEqual(was, is))
  if (changing.length === 0) return text
  const definition = withChanges(definitionIn(text, queue.name), changing)
  const tuned = editQueue(text, queue.name, stringify(definition))
  const written = readQueuesText(tuned, file.file).queues.find(({ name }) => name === queue.name)
  if (!isDeepStrictEqual(written, queue))
    throw new NotEdited(
      `queue ${JSON.stringify(queue.name)}: YAML merge keys (<<) are not supported here; list the limits explicitly`,
    )
  return tuned
}

/**
 * Returns the change as a patch for `git apply` and `patch -p1`. Paths in the patch are relative to `folder`, or to the
 * file's own folder if the file is outside of `folder`.
 */
export function patchOf({ file, source }: QueueFile, folder: string, tuned: string): string {
  const path = relative(folder, resolve(folder, file))
  const isInside = !path.startsWith('..') && !isAbsolute(path)
  return unifiedDiff(isInside ? path.split(sep).join('/') : basename(path), source.text, tuned)
}

/** Writes the tuned text into the file. @throws {NotEdited} if the file has changed since it was read. */
export async function writeTuned({ file, source }: QueueFile, folder: string, tuned: string): Promise<void> {
  // Resolves a symbolic link, so that its target is written and the link remains.
  const path = await realpath(resolve(folder, file))
  if ((await readFile(path, 'utf8')) !== source.text)
    throw new NotEdited(`${file} has changed since it was read, so nothing was written`)
  await replaceFile(path, tuned, source.text)
}
