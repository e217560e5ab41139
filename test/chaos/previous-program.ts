/** Builds the program of an earlier commit, for tests that run two versions together. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The version from which a rolling upgrade starts: a fixed commit until the first release, then the latest release. */
const PREVIOUS = '92e2a119dbd0ad65df3ba5a65597ddfeb3a63604'

export interface PreviousProgram {
  readonly commit: string
  /** Path of the program's main file. */
  readonly main: string
  readonly remove: () => Promise<void>
}

/**
 * Builds the earlier program in a separate folder, from this clone and from packages that are installed already.
 * Resolves with undefined if the clone lacks that commit, e.g. because it is shallow.
 */
export async function buildPrevious(): Promise<PreviousProgram | undefined> {
  const git = (...words: readonly string[]) => run('git', words, { cwd: root })
  const has = await git('cat-file', '-e', `${PREVIOUS}^{commit}`).catch(() => undefined)
  if (has === undefined) return undefined
  const parent = mkdtempSync(join(tmpdir(), 'muster-previous-'))
  const folder = join(parent, 'muster')
  const remove = async () => {
    rmSync(parent, { recursive: true, force: true })
    await git('worktree', 'prune')
  }
  try {
    await git('worktree', 'add', '--detach', folder, PREVIOUS)
    const install = ['install', '--frozen-lockfile', '--prefer-offline', '--filter', '@muster/server...']
    await run('npx', ['-y', 'pnpm@10.34.9', ...install], { cwd: folder })
    const server = join(folder, 'packages/server')
    await bundle({ main: join(server, 'src/cli/main.ts') }, join(server, 'dist'), ['@muster/source'])
    return { commit: PREVIOUS, main: join(server, 'dist/main.mjs'), remove }
  } catch (error) {
    await remove()
    throw error
  }
}
