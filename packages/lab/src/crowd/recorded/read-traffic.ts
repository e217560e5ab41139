import { readCrowd } from '../lines/read-crowd.js'
import { crowdFromRecording, type RecordedCrowd, type RecordingOptions } from './crowd-from-recording.js'

/**
 * Reads a crowd, or makes one of a recording: the first line tells which it is.
 * @param lines as `splitLines` gives them.
 * @param options for a recording.
 * @throws {InvalidCrowd} naming the line and the field
 */
export async function readTraffic(
  lines: AsyncIterable<string>,
  options: RecordingOptions = {},
): Promise<RecordedCrowd> {
  const rest = lines[Symbol.asyncIterator]()
  const read: string[] = []
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    read.push(next.value)
    if (next.value.trim() !== '') break
  }
  async function* all() {
    yield* read
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return isRecorded(read.at(-1) ?? '')
    ? crowdFromRecording(all(), options)
    : { crowd: await readCrowd(all()), notes: [] }
}

/** Each line of a recording has a kind, and none of a crowd. A line that is no JSON is left to who reads it. */
function isRecorded(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'kind' in value
  } catch {
    return text.includes('"kind":')
  }
}
