import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const root = fileURLToPath(new URL('../..', import.meta.url))

type Targets = string | { readonly [condition: string]: Targets }

export interface Manifest {
  readonly name: string
  /** None in a package that is only a program. */
  readonly exports?: Readonly<Record<string, Targets>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A package as it would be published. */
export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string
  /** Where it is unpacked; its dependencies can be found from there. */
  readonly folder: string
  readonly manifest: Manifest
  /** Paths of its files, from its own folder. */
  readonly files: readonly string[]
}

/** The name under which the package in a folder of `packages` is published. */
export const publishedName = (folder: string): string => (folder === 'create-muster' ? folder : `@muster/${folder}`)

/** Unpacks the package from the folder of tarballs under `into`. */
export async function unpack(name: string, tarballs: string, into: string): Promise<Packed> {
  const named = publishedName(name).replace('@', '').replace('/', '-')
  const file = (await readdir(tarballs)).find((one) => one.startsWith(`${named}-`))
  const tarball = join(tarballs, file ?? named)
  const folder = join(into, name)
  await mkdir(folder)
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
  const listed = await run('tar', ['-tzf', tarball])
  await symlink(join(root, 'packages', name, 'node_modules'), join(folder, 'node_modules'))
  return {
    tarball,
    folder,
    manifest: JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest,
    files: listed.stdout
      .split('\n')
      .filter(Boolean)
      .map((one) => one.replace(/^package\//, '')),
  }
}

/** Every file that an `exports` field refers to, under any condition. */
export const targetsOf = (targets: Targets): readonly string[] =>
  typeof targets === 'string' ? [targets] : Object.values(targets).flatMap(targetsOf)

/** Runs a program of node_modules/.bin. Returns its output if it fails, and an empty text if it succeeds. */
export async function complaintsOf(program: string, ...options: string[]): Promise<string> {
  try {
    await run(join(root, 'node_modules/.bin', program), options, { cwd: root, env: { ...process.env, NO_COLOR: '1' } })
    return ''
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return stdout + stderr || String(error)
  }
}
