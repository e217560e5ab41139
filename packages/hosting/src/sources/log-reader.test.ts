import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLogReader } from './log-reader.js'

/** Returns what the reader keeps of a server's output. */
const keptOf = async (text: string, secrets: readonly string[]) =>
  (await createLogReader(async () => ({ head: '', text }), createManualClock())('server', secrets)) ?? ''

test('a cut in a server’s logs leaves no part of a secret, however often the secret was written', async () => {
  // A private key such as a server's variables may contain.
  const secret = Array.from({ length: 500 }, (_, nth) => `KEY${10_000 + nth}`).join('')
  for (const moved of [0, 1, 1000, 3999]) {
    const kept = await keptOf(`${`${secret}\n`.repeat(20)}${'x'.repeat(moved)}`, [secret])
    expect(kept).toContain('[redacted]')
    expect(kept).not.toMatch(/KEY|\d/)
  }
})

test('a cut in a server’s logs leaves no part of an address', async () => {
  const kept = await keptOf(`${'203.0.113.77\n'.repeat(4000)}${'x'.repeat(7)}`, [])
  expect(kept).toContain('[address]')
  expect(kept).not.toMatch(/\d/)
})

test('single lines of a multi-line secret are not shown in a server’s logs', async () => {
  const lines = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQ'.repeat(10), 'AgEAAo'.repeat(10), '-----END PRIVATE KEY-----']
  const key = lines.join('\r\n')
  const written = lines.map((line) => `2026-11-29 12:00 stderr ${line}`)
  expect(await keptOf(written.join('\n'), [key])).not.toMatch(/MIIEvQ|AgEAAo/)
})

test('property: of any server logs at most 16 KiB are kept, without the secret', async () => {
  const text = fc.array(fc.constantFrom('hunter2-hunter2', 'boom\n', 'x'.repeat(500), '198.51.100.7 '), {
    maxLength: 300,
  })
  await fc.assert(
    fc.asyncProperty(text, async (parts) => {
      const kept = await keptOf(parts.join(''), ['hunter2-hunter2'])
      expect(kept.length).toBeLessThanOrEqual(16 * 1024)
      expect(kept).not.toMatch(/hunter2|unter2|198\.51|51\.100\.7/)
    }),
    { numRuns: 100 },
  )
})
