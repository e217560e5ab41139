import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { runProgram } from './program.js'
import { terminalOf, type Terminal } from './terminal.js'

interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly isTTY?: boolean
}

/** Creates commands in a new folder for each test. */
export function inFolder() {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-cli-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  const path = (...names: readonly string[]) => join(folder, ...names)
  /** Passes a terminal to `work`. Resolves with its exit code and its output. */
  const shown = async (work: (terminal: Terminal) => Promise<number>, { env = {}, isTTY = false }: Options = {}) => {
    const [out, err]: [string[], string[]] = [[], []]
    const stream = (texts: string[]) => ({
      isTTY,
      columns: 60,
      write: (text: string, done?: () => void) => {
        texts.push(text)
        done?.()
        return true
      },
    })
    const code = await work(terminalOf({ stdout: stream(out), stderr: stream(err), env, cwd: () => folder }))
    return { code, out: out.join(''), err: err.join('') }
  }
  return {
    path,
    shown,
    run: (args: readonly string[], options?: Options) => shown((terminal) => runProgram(args, terminal), options),
    read: (name: string) => readFile(path(name), 'utf8'),
    file: async (name: string, text: string) => {
      await mkdir(dirname(path(name)), { recursive: true })
      await writeFile(path(name), text)
    },
  }
}
