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
    /** Folder with a tarball of every package. */
    readonly tarballs: string
    /** URL of the registry with the published packages. */
    readonly registry: string
  }
}

/** Packs the packages one after another, because packing builds them. */
async function packInto(folder: string): Promise<string> {
  mkdirSync(folder)
  const packing = ['-r', '--workspace-concurrency=1', '--filter', './packages/*', 'pack', '--pack-destination', folder]
  await run('pnpm', packing, { cwd: root })
  return folder
}

/**
 * Packs every package and publishes it to a local registry, once for all tests, like a real release. With
 * `MUSTER_TARBALLS`, uses the tarballs in that folder. .ci/run packs them early, while nothing else uses the built
 * files.
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
