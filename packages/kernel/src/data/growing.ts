// pure: columns of numbers that grow without being copied

/** A column of numbers. */
export type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array

/** Up to so many bytes a column is copied when it grows: that takes a fraction of a millisecond. */
const COPIED = 2 ** 18
/**
 * The addresses that are reserved for a larger column, in bytes: it grows there in place. Only what is written to takes
 * memory. To copy the columns of a million tickets would hold the event loop for a quarter of a second.
 */
const RESERVED = 2 ** 30

/** ES2024: on older engines all columns are copied. */
interface Growable {
  readonly maxByteLength?: number
  grow?(bytes: number): void
}
const GrowableBuffer = SharedArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => SharedArrayBuffer
const canGrow = 'growable' in SharedArrayBuffer.prototype

/**
 * Returns a column of a greater length with the same numbers, and zeros after them. It may be in the same memory, so
 * the column given must not be used any more.
 */
export function grown<Of extends Column>(column: Of, length: number): Of {
  const make = column.constructor as new (of: number | ArrayBufferLike, from?: number, length?: number) => Of
  const bytes = length * column.BYTES_PER_ELEMENT
  const buffer = column.buffer as ArrayBufferLike & Growable
  if (buffer.grow !== undefined && bytes <= (buffer.maxByteLength ?? 0)) {
    if (bytes > buffer.byteLength) buffer.grow(bytes)
    return new make(buffer, 0, length)
  }
  const reserved = bytes > COPIED && bytes <= RESERVED ? reservedBuffer(bytes) : undefined
  const larger = reserved === undefined ? new make(length) : new make(reserved, 0, length)
  larger.set(column)
  return larger
}

/** Undefined where addresses cannot be reserved: the engine is older, or the process may have no more of them. */
function reservedBuffer(bytes: number): SharedArrayBuffer | undefined {
  if (!canGrow) return undefined
  try {
    return new GrowableBuffer(bytes, { maxByteLength: RESERVED })
  } catch {
    return undefined
  }
}
