import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { root } from './packed.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with a tarball of every package. */
    readonly tarballs: string
  }
}

/**
 * Packs every package once for all tests, because packing builds it. With `MUSTER_TARBALLS`, that folder has what was
 * packed before: .ci/run does so while nothing else needs what is built.
 */
export function setup(project: TestProject): (() => void) | undefined {
  const packed = process.env['MUSTER_TARBALLS']
  if (packed !== undefined) {
    project.provide('tarballs', packed)
    return undefined
  }
  const folder = mkdtempSync(join(tmpdir(), 'muster-tarballs-'))
  for (const name of readdirSync(join(root, 'packages'))) {
    execFileSync('pnpm', ['pack', '--pack-destination', folder], {
      cwd: join(root, 'packages', name),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  project.provide('tarballs', folder)
  return () => rmSync(folder, { recursive: true })
}
