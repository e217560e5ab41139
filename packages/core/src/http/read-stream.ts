import { bodyBroken, bodyTooLarge } from './body-problems.js'
import type { ByteBuffer } from './byte-buffer.js'

/**
 * Reads a stream into `bytes`. Rejects with a `Problem` for more than `maxBytes` and for a stream that breaks off, and
 * with the signal's reason as soon as the signal is aborted.
 */
export function readStream(
  stream: ReadableStream<Uint8Array>,
  bytes: ByteBuffer,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = stream.getReader()

  const readAll = async (): Promise<Uint8Array> => {
    for (;;) {
      const { done, value } = await reader.read().catch(broken)
      if (done || signal.aborted) return bytes.take()
      if (bytes.size + value.byteLength > maxBytes) {
        await reader.cancel().catch(() => {})
        throw bodyTooLarge(maxBytes)
      }
      bytes.append(value)
    }
  }
  return new Promise((resolve, reject) => {
    // The stream is not cancelled: in some servers that closes the socket before the answer is sent.
    const onAbort = () => {
      bytes.take()
      reject(signal.reason)
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    readAll()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function broken(): never {
  throw bodyBroken()
}
