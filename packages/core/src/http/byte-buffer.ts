const NOTHING = new Uint8Array()
const SMALLEST = 256

/**
 * A growing buffer for bytes that arrive in pieces. Pieces are copied, because a body sent in one-byte pieces would
 * otherwise be held as thousands of objects of some hundred bytes each.
 */
export class ByteBuffer {
  #bytes: Uint8Array = NOTHING
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Bytes of memory held: less than twice `size`, or the smallest buffer size. */
  get capacity(): number {
    return this.#bytes.byteLength
  }

  append(piece: Uint8Array): void {
    const size = this.#size + piece.byteLength
    if (size > this.#bytes.byteLength) this.#grow(size)
    this.#bytes.set(piece, this.#size)
    this.#size = size
  }

  /** Holds a piece without copying it. It must be the only piece, and must not change afterwards. */
  adopt(piece: Uint8Array): void {
    this.#bytes = piece
    this.#size = piece.byteLength
  }

  /** Returns all bytes received so far and empties the buffer. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#size)
    this.#bytes = NOTHING
    this.#size = 0
    return taken
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(size, SMALLEST, Math.min(2 * this.#bytes.byteLength, 2 * size)))
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}
