import { posix } from 'node:path'
import type { Import, Module } from './modules.js'

/** Modules by path, and the entry points of packages, e.g. `@muster/core/api` → `packages/core/src/api/index.ts`. */
export interface Tree {
  readonly modules: ReadonlyMap<string, Module>
  readonly entryPoints: ReadonlyMap<string, string>
}

const CORE = ['@muster/core', '@muster/core/api', '@muster/core/clock', '@muster/core/http', '@muster/core/internal']

/**
 * Entry points of other packages that each package may import (docs/ARCHITECTURE.md). Code outside of packages may
 * import all.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  kernel: [],
  hosting: CORE,
  matchmaker: [...CORE, '@muster/kernel', '@muster/hosting', '@muster/hosting/internal'],
  relay: CORE,
  // Runs in the studio's process, so it has no dependencies.
  'game-server': [],
  client: [],
  'create-muster': [],
  // Only the parts of core that work without the client, because the emulator tests the client.
  emulator: [
    '@muster/console/internal',
    '@muster/core/api',
    '@muster/core/clock',
    '@muster/core/http',
    '@muster/core/internal',
  ],
  console: [],
  redis: [...CORE, '@muster/matchmaker', '@muster/matchmaker/internal', '@muster/relay'],
  lab: [...CORE, '@muster/matchmaker', '@muster/matchmaker/internal'],
  server: [
    ...CORE,
    '@muster/console',
    '@muster/console/internal',
    '@muster/emulator',
    '@muster/emulator/internal',
    '@muster/lab',
    '@muster/lab/internal',
    '@muster/matchmaker',
    '@muster/matchmaker/internal',
    '@muster/redis',
    '@muster/redis/internal',
    '@muster/relay',
  ],
}

/** Additional entry points that tests and fixtures of a package may import. */
const TESTS_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  client: [
    '@muster/core',
    '@muster/core/clock',
    '@muster/core/http',
    '@muster/emulator',
    '@muster/matchmaker',
    '@muster/relay',
    '@muster/hosting/service-fixture',
  ],
  kernel: ['@muster/core/clock'],
  'game-server': ['@muster/core', '@muster/core/clock', '@muster/core/http', '@muster/emulator', '@muster/matchmaker'],
  hosting: ['@muster/game-server/internal'],
  matchmaker: [
    '@muster/game-server/internal',
    '@muster/hosting/allocator-fixture',
    '@muster/hosting/schedules-fixture',
    '@muster/hosting/service-fixture',
    '@muster/hosting/store-fixture',
  ],
  lab: ['@muster/matchmaker/rules-oracle'],
  redis: [
    '@muster/hosting/schedules-fixture',
    '@muster/matchmaker/group-store-suite',
    '@muster/redis-server',
    '@muster/relay/store-suite',
  ],
  server: ['@muster/redis-server'],
}

/**
 * Layers of a package's folders and of the files beside them, the lowest layer first. Code may import neither from
 * another folder of its own layer nor from a higher layer.
 */
type FolderLayers = readonly (readonly string[])[]

const MATCHMAKER: FolderLayers = [
  ['beacons', 'errors', 'wait-times'],
  ['locate'],
  ['queues/rule-parts'],
  ['queues/rules'],
  ['queues'],
  ['options'],
  ['tickets'],
  ['events', 'unwritten'],
  ['matches'],
  ['commands'],
  ['telemetry', 'http-api'],
  ['create-matchmaker', 'partition'],
  ['replay'],
  ['index', 'internal'],
]

const LAB: FolderLayers = [
  ['statistics'],
  ['crowd'],
  ['ratings'],
  ['run'],
  ['figures', 'bound'],
  ['jobs', 'scenes'],
  ['compare'],
  ['tune'],
  ['report'],
  ['index', 'internal'],
]

const SERVER: FolderLayers = [
  ['version', 'config'],
  ['auth', 'profiles', 'telemetry'],
  ['console'],
  ['running', 'lab'],
  ['dev'],
  ['cli', 'index'],
  ['internal'],
]

/** Packages without state or side effects, which pure files may import. */
const PURE_PACKAGES = new Set(['ipaddr.js', 'openskill', 'zod'])

const API = 'packages/core/src/api/'

const isRelative = (specifier: string) => specifier.startsWith('.')
const isTest = (path: string) => /\.(test|test-d|fixture)\.tsx?$/.test(path)
const packageOf = (path: string) => /^packages\/([^/]+)\//.exec(path)?.[1]

/** Returns the path of the module to which an import refers; undefined for a module outside of this repository. */
function resolve(from: string, specifier: string, { entryPoints, modules }: Tree): string | undefined {
  if (!isRelative(specifier)) return entryPoints.get(specifier)
  const path = posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts')
  return modules.has(`${path}x`) ? `${path}x` : path
}

function layers(module: Module, tree: Tree): string[] {
  const from = packageOf(module.path)
  return module.imports.flatMap(({ specifier }) => {
    if (isRelative(specifier)) {
      const target = resolve(module.path, specifier, tree) as string
      const isData = /\.(json|css)$/.test(target)
      if (!isData && !tree.modules.has(target)) return [`imports ${specifier}, which is no module`]
      return packageOf(target) === from
        ? []
        : [`reaches into another package by ${specifier} instead of using its entry point`]
    }
    if (!specifier.startsWith('@muster/')) return []
    if (!tree.entryPoints.has(specifier)) return [`imports ${specifier}, which is no entry point`]
    if (from === undefined || MAY_IMPORT[from]?.includes(specifier)) return []
    return isTest(module.path) && TESTS_MAY_IMPORT[from]?.includes(specifier)
      ? []
      : [`imports ${specifier}, which ${from} may not`]
  })
}

/** A package with layered folders. */
interface LayeredPackage {
  readonly src: string
  readonly layers: FolderLayers
  /** Returns the layered folder to which a path inside the package belongs. */
  readonly folderOf: (inside: string) => string
}

const firstFolder = (inside: string) => inside.split('/')[0] as string
const LAYERED: readonly LayeredPackage[] = [
  { src: 'packages/matchmaker/src/', layers: MATCHMAKER, folderOf: (inside) => posix.dirname(inside) },
  { src: 'packages/lab/src/', layers: LAB, folderOf: firstFolder },
  { src: 'packages/server/src/', layers: SERVER, folderOf: firstFolder },
]

const layeredPackageOf = (path: string) => LAYERED.find(({ src }) => path.startsWith(src) && !isTest(path))

/**
 * Returns the layered folder of a module, or the module's own name if it is in none. Undefined if the module is in
 * another package.
 */
function layeredFolderOf(path: string, ofPackage: LayeredPackage): string | undefined {
  if (layeredPackageOf(path) !== ofPackage) return undefined
  const inside = path.slice(ofPackage.src.length)
  return inside.includes('/') ? ofPackage.folderOf(inside) : inside.replace(/\.ts$/, '')
}

function folderLayers(module: Module, tree: Tree): string[] {
  const ofPackage = layeredPackageOf(module.path)
  if (ofPackage === undefined) return []
  const layerOf = (folder: string) => ofPackage.layers.findIndex((folders) => folders.includes(folder))
  const folder = layeredFolderOf(module.path, ofPackage) as string
  const layer = layerOf(folder)
  if (layer === -1) return [`is in ${folder}, which has no layer`]
  return module.imports.flatMap(({ specifier }) => {
    const target = layeredFolderOf(resolve(module.path, specifier, tree) ?? '', ofPackage)
    const isBelow = target === undefined || target === folder || layerOf(target) < layer
    return isBelow ? [] : [`imports ${specifier}, of ${target}, which is not below ${folder}`]
  })
}

function description({ path, imports }: Module, tree: Tree): string[] {
  if (!path.startsWith(API) || isTest(path)) return []
  const allowed = ({ specifier, reexported }: Import) =>
    specifier === 'zod' ||
    specifier === '../operation.js' ||
    /^\.\/[^/]+$/.test(specifier) ||
    // The entry point may re-export what the emulator and the client share, e.g. distances.
    (path === `${API}index.ts` &&
      reexported.length > 0 &&
      tree.modules.get(resolve(path, specifier, tree) ?? '')?.pure === true)
  return imports
    .filter((found) => !allowed(found))
    .map(({ specifier }) => `is part of the API description, yet imports ${specifier}`)
}

/** Returns the path of the module that declares an exported name, following re-exports. */
function originOf(path: string, name: string, tree: Tree): string {
  const reexport = tree.modules.get(path)?.imports.find(({ reexported }) => reexported.includes(name))
  if (reexport === undefined) return path
  const next = resolve(path, reexport.specifier, tree)
  const original = reexport.values === 'all' ? name : reexport.values[reexport.reexported.indexOf(name)]
  return next === undefined ? path : originOf(next, original ?? name, tree)
}

function purity(module: Module, tree: Tree): string[] {
  if (!module.pure) return []
  const isPure = (path: string) =>
    tree.modules.get(path)?.pure === true || path.startsWith(API) || path.endsWith('.json')
  const impure = ({ specifier, values }: Import) => {
    if (values.length === 0 || PURE_PACKAGES.has(specifier)) return false
    const target = resolve(module.path, specifier, tree)
    if (target === undefined) return true
    return values === 'all' ? !isPure(target) : !values.every((name) => isPure(originOf(target, name, tree)))
  }
  return module.imports
    .filter(impure)
    .map(({ specifier }) => `is marked pure, yet imports more than types from ${specifier}, which is not`)
}

function exportStyle({ path, exportsStar, exportsDefault }: Module): string[] {
  const problems: string[] = []
  if (exportsStar) problems.push('has export *')
  if (exportsDefault && !path.endsWith('.config.ts')) problems.push('has a default export')
  return problems
}

/** Returns one message for each cycle of modules, including cycles of types only. */
function cycles(tree: Tree): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path)
    if (start !== -1) found.push(`${path}: imports itself by ${[...trail.slice(start + 1), path].join(' → ')}`)
    if (start !== -1 || done.has(path)) return
    for (const { specifier } of tree.modules.get(path)?.imports ?? []) {
      const next = resolve(path, specifier, tree)
      if (next !== undefined) visit(next, [...trail, path])
    }
    done.add(path)
  }
  for (const path of tree.modules.keys()) visit(path, [])
  return found
}

/** Returns all violations of the import rules, each as `path: what is wrong`. */
export function violations(tree: Tree): string[] {
  const perModule = [...tree.modules.values()].flatMap((module) =>
    [
      layers(module, tree),
      folderLayers(module, tree),
      description(module, tree),
      purity(module, tree),
      exportStyle(module),
    ]
      .flat()
      .map((problem) => `${module.path}: ${problem}`),
  )
  return [...perModule, ...cycles(tree)]
}
