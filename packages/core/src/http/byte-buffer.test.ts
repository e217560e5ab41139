import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteBuffer } from './byte-buffer.js'

test('any pieces give the bytes received, and less than twice as many are held', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 60 }), (pieces) => {
      const buffer = new ByteBuffer()
      for (const piece of pieces) {
        buffer.append(piece)
        expect(buffer.capacity).toBeLessThanOrEqual(Math.max(256, 2 * buffer.size))
      }
      const all = Buffer.concat(pieces)
      expect(buffer.size).toBe(all.byteLength)
      expect(Buffer.from(buffer.take())).toEqual(all)
      expect([buffer.size, buffer.capacity]).toEqual([0, 0])
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 30 },
  )
})

test('a piece that is changed later has no effect', () => {
  const buffer = new ByteBuffer()
  const piece = Uint8Array.of(1, 2)
  buffer.append(piece)
  piece.fill(9)
  expect([...buffer.take()]).toEqual([1, 2])
})
