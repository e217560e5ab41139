import { InvalidCrowd } from './invalid-crowd.js'

/** Longest line in UTF-16 units (our choice: a party of 500 players with 64 latencies each has less). */
const LONGEST_LINE = 2 ** 20

/**
 * Splits a file into lines, without their ends. It holds one line at a time, so a file of any size needs little memory.
 * @param chunks bytes of UTF-8, e.g. `createReadStream(path)`, or text.
 * @throws {InvalidCrowd} at a line that is too long or is not UTF-8.
 */
export async function* splitLines(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [rest, number] = ['', 1]
  const decoded = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new InvalidCrowd(number, '', 'or one soon after it is not UTF-8')
    }
  }
  for await (const chunk of chunks) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoded(chunk))).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      refuseLong(line, number)
      yield withoutReturn(line)
      number += 1
    }
    refuseLong(rest, number)
  }
  rest += decoded()
  if (rest !== '') yield withoutReturn(rest)
}

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line)

export function refuseLong({ length }: string, number: number): void {
  if (length > LONGEST_LINE) throw new InvalidCrowd(number, '', `is longer than ${LONGEST_LINE} characters`)
}
