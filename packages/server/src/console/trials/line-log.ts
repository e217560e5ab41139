/** Lines outside of the heap, where the garbage collector does not walk them. */
export interface LineLog {
  add(line: string): void
  /** All lines as text, in the order in which they were added. Each piece ends with a whole line. */
  pieces(): readonly Uint8Array[]
  lines(): number
  bytes(): number
}

const CHUNK = 256 * 1024

export function createLineLog(): LineLog {
  const full: Buffer[] = []
  let current = Buffer.alloc(0)
  let used = 0
  let bytes = 0
  let lines = 0

  const begin = (least: number) => {
    if (used > 0) full.push(current.subarray(0, used))
    current = Buffer.allocUnsafeSlow(Math.max(CHUNK, least))
    used = 0
  }

  return {
    add: (line) => {
      // A UTF-16 unit takes three bytes of UTF-8 at most.
      if (current.byteLength - used < line.length * 3) begin(line.length * 3)
      const written = current.write(line, used, 'utf8')
      used += written
      bytes += written
      lines += 1
    },
    pieces: () => [...full, ...(used > 0 ? [current.subarray(0, used)] : [])].map((piece) => new Uint8Array(piece)),
    lines: () => lines,
    bytes: () => bytes,
  }
}
