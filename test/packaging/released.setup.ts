import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { root } from './packed.js'
import { openRegistry } from './registry.js'

const run = promisify(execFile)

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with a tarball of every package. */
    readonly tarballs: string
    /** The address of the registry to which they were published. */
    readonly registry: string
  }
}

/** Packs every package, one after the other, because packing builds. */
async function packInto(folder: string): Promise<string> {
  mkdirSync(folder)
  const packing = ['-r', '--workspace-concurrency=1', '--filter', './packages/*', 'pack', '--pack-destination', folder]
  await run('pnpm', packing, { cwd: root })
  return folder
}

/**
 * Makes a release of every package, once for all tests, as the release does it: packed, and published to a registry.
 * With `MUSTER_TARBALLS`, that folder has what was packed before: .ci/run does so while nothing else needs what is
 * built.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-released-'))
  const [tarballs, registry] = await Promise.all([
    process.env['MUSTER_TARBALLS'] ?? packInto(join(folder, 'tarballs')),
    openRegistry(join(folder, 'registry')),
  ])
  const close = () => {
    registry.close()
    rmSync(folder, { recursive: true })
  }
  try {
    const env = { ...process.env, ...registry.env }
    await run(process.execPath, [join(root, 'scripts/publish.mjs'), tarballs], { env })
  } catch (error) {
    close()
    throw error
  }
  project.provide('tarballs', tarballs)
  project.provide('registry', registry.url)
  return close
}
