import { InvalidCrowd } from './invalid-crowd.js'

/** Longest line, in bytes or UTF-16 units (our choice: a party of 500 players with 64 latencies each has less). */
const LONGEST_LINE = 2 ** 20
const LINE_FEED = 10
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Splits a file into lines, without their ends. It holds one line at a time, so a file of any size needs little memory.
 * @param chunks bytes of UTF-8, e.g. `createReadStream(path)`, or text.
 * @throws {InvalidCrowd} at a line that is too long or is not UTF-8.
 */
export async function* splitLines(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  let number = 1
  // Only the new part is searched, however small the parts of a long line are.
  let [parts, length]: [Uint8Array[], number] = [[], 0]
  const add = (part: Uint8Array) => {
    length += part.length
    refuseLong({ length }, number)
    parts.push(part)
  }
  const line = () => {
    const text = textOf(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts), number)
    ;[parts, length] = [[], 0]
    number += 1
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      add(bytes.subarray(from, end))
      yield line()
      from = end + 1
    }
    if (from < bytes.length) add(bytes.subarray(from))
  }
  if (length > 0) yield line()
}

function textOf(bytes: Uint8Array, number: number): string {
  try {
    return decoder.decode(bytes)
  } catch {
    const isGzip = number === 1 && bytes[0] === 0x1f && bytes[1] === 0x8b
    throw new InvalidCrowd(number, '', isGzip ? 'is compressed: unpack it by gunzip' : 'is not UTF-8')
  }
}

export function refuseLong({ length }: { readonly length: number }, number: number): void {
  if (length > LONGEST_LINE) throw new InvalidCrowd(number, '', 'is longer than a mebibyte, 1048576 characters')
}
