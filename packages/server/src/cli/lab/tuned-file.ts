import { readFile, realpath } from 'node:fs/promises'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '@muster/lab/internal'
import type { Queue } from '@muster/matchmaker'
import { stringify } from 'yaml'
import { replaceFile, definitionIn, editQueue, NotEdited } from '../../running/index.js'
import { type QueueFile, readQueuesText } from './lab-input.js'

/** Lines of context around each change, as `diff -u` has them. */
const CONTEXT = 3
/** Beyond this number of pairs of lines, everything from the first to the last change is one change. */
const MOST_PAIRS = 4_000_000

/** A line that stays (` `), goes (`-`) or comes (`+`). */
interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/**
 * The difference of two texts as a patch that `git apply` and `patch -p1` take. Empty if there is none.
 * @param file path within the folder that the patch is applied in, with `/`.
 */
export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return ''
  const lines = changesOf(linesOf(before), linesOf(after))
  // A tab ends a name with spaces.
  const name = /\s/.test(file) ? `${file}\t` : file
  return `--- a/${name}\n+++ b/${name}\n${hunksOf(lines).join('')}`
}

/** Each line with its end. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function changesOf(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let [endBefore, endAfter] = [before.length, after.length]
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore -= 1
    endAfter -= 1
  }
  return [
    ...marked(' ', before.slice(0, start)),
    ...between(before.slice(start, endBefore), after.slice(start, endAfter)),
    ...marked(' ', before.slice(endBefore)),
  ]
}

const marked = (mark: Line['mark'], lines: readonly string[]): Line[] => lines.map((text) => ({ mark, text }))

/** Changes between two lists of lines, by their longest common subsequence. */
function between(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length * after.length > MOST_PAIRS) return [...marked('-', before), ...marked('+', after)]
  const width = after.length + 1
  /** Length of the longest common subsequence of the rests of both, by row and column. */
  const common = new Uint32Array((before.length + 1) * width)
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const at = row * width + column
      common[at] =
        before[row] === after[column]
          ? (common[at + width + 1] as number) + 1
          : Math.max(common[at + width] as number, common[at + 1] as number)
    }
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length) {
    const at = row * width + column
    if (before[row] === after[column]) {
      lines.push({ mark: ' ', text: before[row] as string })
      row += 1
      column += 1
    } else if ((common[at + width] as number) >= (common[at + 1] as number)) {
      lines.push({ mark: '-', text: before[row] as string })
      row += 1
    } else {
      lines.push({ mark: '+', text: after[column] as string })
      column += 1
    }
  }
  return [...lines, ...marked('-', before.slice(row)), ...marked('+', after.slice(column))]
}

/** The changes with their context; changes whose contexts meet are one hunk. */
function hunksOf(lines: readonly Line[]): string[] {
  const hunks: string[] = []
  let [lineBefore, lineAfter] = [1, 1]
  for (let at = 0; at < lines.length;) {
    const first = lines.findIndex(({ mark }, index) => index >= at && mark !== ' ')
    if (first === -1) break
    const from = Math.max(at, first - CONTEXT)
    lineBefore += from - at
    lineAfter += from - at
    const to = endOfHunk(lines, first)
    const part = lines.slice(from, to)
    const ofBefore = part.filter(({ mark }) => mark !== '+').length
    const ofAfter = part.filter(({ mark }) => mark !== '-').length
    const head = `@@ -${rangeOf(lineBefore, ofBefore)} +${rangeOf(lineAfter, ofAfter)} @@\n`
    hunks.push(head + part.map(lineOf).join(''))
    lineBefore += ofBefore
    lineAfter += ofAfter
    at = to
  }
  return hunks
}

function endOfHunk(lines: readonly Line[], first: number): number {
  let last = first
  for (let at = first; at < lines.length && at - last <= 2 * CONTEXT; at += 1) if (lines[at]?.mark !== ' ') last = at
  return Math.min(lines.length, last + 1 + CONTEXT)
}

/** Where a hunk begins and its number of lines; a hunk without lines begins at the line before it. */
const rangeOf = (from: number, count: number) => (count === 0 ? `${from - 1},0` : `${from},${count}`)

const lineOf = ({ mark, text }: Line) =>
  text.endsWith('\n') ? mark + text : `${mark}${text}\n\\ No newline at end of file\n`

/** The text of the file with other schedules of a queue. All else in it stays, comments included. */
export async function tunedText(file: QueueFile, queue: Queue, changes: readonly Change[]): Promise<string> {
  const { withChanges } = await import('@muster/lab/internal')
  const { text } = file.source
  const changing = changes.filter(({ was, is }) => !isDeepStrictEqual(was, is))
  if (changing.length === 0) return text
  const definition = withChanges(definitionIn(text, queue.name), changing)
  const tuned = editQueue(text, queue.name, stringify(definition))
  const written = readQueuesText(tuned, file.file).queues.find(({ name }) => name === queue.name)
  if (!isDeepStrictEqual(written, queue))
    throw new NotEdited(`queue ${JSON.stringify(queue.name)} takes limits from elsewhere by <<: write them out`)
  return tuned
}

/** The change as a patch for `git apply` and `patch -p1` in the folder, or in that of the file if it is outside. */
export function patchOf({ file, source }: QueueFile, folder: string, tuned: string): string {
  const path = relative(folder, resolve(folder, file))
  const isInside = !path.startsWith('..') && !isAbsolute(path)
  return unifiedDiff(isInside ? path.split(sep).join('/') : basename(path), source.text, tuned)
}

/** @throws {NotEdited} if the file has been changed since it was read. */
export async function writeTuned({ file, source }: QueueFile, folder: string, tuned: string): Promise<void> {
  // A link stays a link.
  const path = await realpath(resolve(folder, file))
  if ((await readFile(path, 'utf8')) !== source.text)
    throw new NotEdited(`${file} was changed meanwhile: nothing is written`)
  await replaceFile(path, tuned, source.text)
}
