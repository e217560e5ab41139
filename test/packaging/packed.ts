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
  /** Undefined in a package that is only a program. */
  readonly exports?: Readonly<Record<string, Targets>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A package in the form in which it is published. */
export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string
  /** Folder in which the tarball is unpacked. Its dependencies can be resolved from there. */
  readonly folder: string
  readonly manifest: Manifest
  /** Paths of its files, relative to that folder. */
  readonly files: readonly string[]
}

/** Returns the published name of the package in a folder of `packages`. */
export const publishedName = (folder: string): string => (folder === 'create-muster' ? folder : `@muster/${folder}`)

/** Unpacks a package's tarball below `into`. */
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

/** Returns every file to which an `exports` field refers, under any condition. */
export const targetsOf = (targets: Targets): readonly string[] =>
  typeof targets === 'string' ? [targets] : Object.values(targets).flatMap(targetsOf)
