import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from './files.js'
import { parseModule } from './modules.js'
import type { Tree } from './rules.js'

const FOLDERS = ['packages', 'tools', 'test', 'examples', 'bench']

/** The condition under which a package's entry points refer to its sources. */
type Exports = Readonly<Record<string, { readonly '@muster/source': string }>>

function entryPointsOf(root: string, folder: string): [specifier: string, path: string][] {
  // A package that is only a program has none.
  const { name, exports = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    name: string
    exports?: Exports
  }
  return Object.entries(exports).map(([subpath, target]) => [
    name + subpath.slice(1),
    `${folder}/${target['@muster/source'].slice(2)}`,
  ])
}

/** Reads all TypeScript files of the repository, including tests. */
export function readTree(root: string): Tree {
  const files = FOLDERS.flatMap((folder) => filesBelow(root, folder)).filter((path) => /\.tsx?$/.test(path))
  const packages = ['packages', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  )
  return {
    modules: new Map(files.map((path) => [path, parseModule(path, readFileSync(join(root, path), 'utf8'))])),
    entryPoints: new Map(packages.flatMap((folder) => entryPointsOf(root, folder))),
  }
}
