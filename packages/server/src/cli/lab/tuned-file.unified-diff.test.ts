import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from './tuned-file.js'

test('a unified diff shows the context of a change, and joins near changes in one hunk', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n'
  expect(unifiedDiff('muster.yaml', before, before.replace('e', 'E').replace('h\n', '').replace('p', 'P'))).toBe(
    `--- a/muster.yaml
+++ b/muster.yaml
@@ -2,10 +2,9 @@
 b
 c
 d
-e
+E
 f
 g
-h
 i
 j
 k
@@ -13,4 +12,4 @@
 m
 n
 o
-p
+P
`,
  )
  expect(unifiedDiff('muster.yaml', before, before)).toBe('')
})

/** Applies a patch to a text, strictly like `patch -p1`. */
function applied(text: string, patch: string): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const made: string[] = []
  let at = 0
  for (const line of patch.replaceAll('\n\\ No newline at end of file', '\u0000').match(/[^\n]*\n/g) ?? []) {
    const [, start, count] = /^@@ -(\d+),(\d+)/.exec(line) ?? []
    if (start !== undefined) {
      const from = Number(start) - (count === '0' ? 0 : 1)
      made.push(...lines.slice(at, from))
      at = from
    } else if (!/^(---|\+\+\+) [ab]\//.test(line)) {
      const own = line.slice(1).replace('\u0000\n', '')
      if (line[0] !== '+') expect(lines[at++]).toBe(own)
      if (line[0] !== '-') made.push(own)
    }
  }
  return [...made, ...lines.slice(at)].join('')
}

test('a unified diff patch turns the first text into the second (property)', () => {
  const texts = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', 'd: 1'), { maxLength: 30 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      expect(applied(before, unifiedDiff('a', before, after))).toBe(after)
    }),
  )
})

test.each(['muster.yaml', 'a b.yaml'])('git applies a unified diff of the file %s', (name) => {
  const before = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\r\n')
  const after = before.replace('line 3\r\n', '').replace('line 20', 'line twenty\r\nand more').replace('line 39', 'end')
  const folder = mkdtempSync(join(tmpdir(), 'muster-patch-'))
  try {
    writeFileSync(join(folder, name), before)
    writeFileSync(join(folder, 'p.diff'), unifiedDiff(name, before, after))
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() }
    execFileSync('git', ['apply', '--whitespace=nowarn', 'p.diff'], { cwd: folder, stdio: 'pipe', env })
    expect(readFileSync(join(folder, name), 'utf8')).toBe(after)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
