import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Returns the packages that a built module loads at import, directly or through other modules. */
function loadedBy(file: URL, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file.href)) return packages
  seen.add(file.href)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?:[^('"]*from )?['"]([^'"]+)['"]/gm,
  )) {
    if (!specifier.startsWith('.')) packages.add(specifier)
    else for (const name of loadedBy(new URL(specifier, file), seen)) packages.add(name)
  }
  return packages
}

test('importing @muster/core loads neither zod nor undici, which are slow to load', () => {
  const loaded = loadedBy(new URL('../../packages/core/dist/index.js', import.meta.url))
  expect(loaded).toContain('p-queue')
  expect([...loaded].filter((name) => /^(?:zod|undici)/.test(name))).toEqual([])
})
