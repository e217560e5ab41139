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
  const textOf = (chunk?: string | Uint8Array) => {
    if (typeof chunk === 'string') return chunk
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new InvalidCrowd(number, '', 'or one soon after it is not UTF-8')
    }
  }
  let number = 1
  // Only the new part is searched, however small the parts of a long line are.
  let [parts, length]: [string[], number] = [[], 0]
  const add = (part: string) => {
    length += part.length
    refuseLong({ length }, number)
    parts.push(part)
  }
  const line = () => {
    const whole = parts.join('')
    ;[parts, length] = [[], 0]
    number += 1
    return whole.endsWith('\r') ? whole.slice(0, -1) : whole
  }
  for await (const chunk of chunks) {
    const text = textOf(chunk)
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      add(text.slice(from, end))
      yield line()
      from = end + 1
    }
    add(text.slice(from))
  }
  add(textOf())
  if (length > 0) yield line()
}

export function refuseLong({ length }: { readonly length: number }, number: number): void {
  if (length > LONGEST_LINE) throw new InvalidCrowd(number, '', `is longer than ${LONGEST_LINE} characters`)
}
