/** Lines in a bounded number of bytes: the newest, in the order in which they were added. */
export interface LineLog {
  add(line: string): void
  /** All lines as text. Each piece ends with a whole line. */
  pieces(): readonly Uint8Array[]
  /** Number of bytes held. */
  bytes(): number
  /** Whether lines were dropped. */
  hasDropped(): boolean
}

/** Bytes of a chunk: the oldest lines are dropped chunk by chunk. */
const CHUNK = 256 * 1024

/**
 * Keeps lines outside of the heap, where the garbage collector does not walk them.
 * @param mostBytes the oldest lines are dropped beyond.
 */
export function createLineLog(mostBytes: number): LineLog {
  const full: Buffer[] = []
  let current = Buffer.allocUnsafeSlow(CHUNK)
  let used = 0
  let bytes = 0
  let dropped = false

  const begin = (least: number) => {
    if (used > 0) full.push(current.subarray(0, used))
    current = Buffer.allocUnsafeSlow(Math.max(CHUNK, least))
    used = 0
  }
  const dropOldest = () => {
    while (bytes > mostBytes) {
      const oldest = full.shift()
      if (oldest === undefined) return
      bytes -= oldest.byteLength
      dropped = true
    }
  }

  return {
    add: (line) => {
      // A UTF-16 unit takes three bytes of UTF-8 at most.
      if (current.byteLength - used < line.length * 3) begin(line.length * 3)
      const written = current.write(line, used, 'utf8')
      used += written
      bytes += written
      if (bytes > mostBytes) dropOldest()
    },
    pieces: () => [...full, ...(used > 0 ? [current.subarray(0, used)] : [])].map((piece) => new Uint8Array(piece)),
    bytes: () => bytes,
    hasDropped: () => dropped,
  }
}
