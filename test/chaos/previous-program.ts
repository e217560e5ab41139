/** The program as an earlier commit has it, for tests of two versions side by side. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The version before this one, which a rolling upgrade begins with. It is a commit until the first release; from then
 * on, the latest release.
 */
const PREVIOUS = '92e2a119dbd0ad65df3ba5a65597ddfeb3a63604'

export interface PreviousProgram {
  readonly commit: string
  /** What Node.js is given to run it. */
  readonly main: string
  readonly remove: () => Promise<void>
}

/**
 * Builds the earlier program in a folder of its own, from this clone and what is installed on this machine already.
 * Undefined in a clone without that commit, e.g. a shallow one.
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
    // Its types were checked when it was made.
    await run('npx', ['tsc', '-b', 'packages/server', '--noCheck'], { cwd: folder })
    const main = join(folder, 'packages/server/dist/cli/main.js')
    if (!existsSync(main)) throw new Error(`the build of ${PREVIOUS} left no ${main}`)
    return { commit: PREVIOUS, main, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
