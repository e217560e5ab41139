/** Lines in a bounded number of bytes: the newest, in the order in which they were added. */
export interface LineLog {
  add(line: string): void
  /** All lines as text. Each piece ends with a whole line. */
  pieces(): readonly Uint8Array[]
  /** Number of lines that were added. */
  lines(): number
  /** Whether lines were dropped. */
  hasDropped(): boolean
  /** When the oldest line that is kept was added; undefined without lines. */
  since(): number | undefined
}

/** Bytes of a chunk: the oldest lines are dropped chunk by chunk. */
const CHUNK = 256 * 1024

/**
 * Keeps lines outside of the heap, where the garbage collector does not walk them.
 * @param mostBytes the oldest lines are dropped beyond.
 */
export function createLineLog(mostBytes: number, now: () => number): LineLog {
  const full: { readonly bytes: Buffer; readonly since: number }[] = []
  let current = Buffer.allocUnsafeSlow(CHUNK)
  let used = 0
  let since = 0
  let bytes = 0
  let dropped = false
  let lines = 0

  const begin = (least: number) => {
    if (used > 0) full.push({ bytes: current.subarray(0, used), since })
    current = Buffer.allocUnsafeSlow(Math.max(CHUNK, least))
    used = 0
  }
  const dropOldest = () => {
    while (bytes > mostBytes) {
      const oldest = full.shift()
      if (oldest === undefined) return
      bytes -= oldest.bytes.byteLength
      dropped = true
    }
  }

  return {
    add: (line) => {
      // A UTF-16 unit takes three bytes of UTF-8 at most.
      if (current.byteLength - used < line.length * 3) begin(line.length * 3)
      if (used === 0) since = now()
      const written = current.write(line, used, 'utf8')
      lines += 1
      used += written
      bytes += written
      if (bytes > mostBytes) dropOldest()
    },
    pieces: () =>
      [...full.map((piece) => piece.bytes), ...(used > 0 ? [current.subarray(0, used)] : [])].map(
        (piece) => new Uint8Array(piece),
      ),
    since: () => full[0]?.since ?? (used > 0 ? since : undefined),
    lines: () => lines,
    hasDropped: () => dropped,
  }
}
