import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { entryPointFaults } from './imports/entry-points.js'
import { filesBelow } from './imports/files.js'
import { folderFaults, layoutFaults } from './imports/layout.js'
import { parseModule } from './imports/modules.js'
import { type Tree, violations } from './imports/rules.js'
import { readTree } from './imports/tree.js'

const root = fileURLToPath(new URL('..', import.meta.url))

describe('this repository', () => {
  let tree: Tree
  beforeAll(() => {
    tree = readTree(root)
  })

  test('this repository has no violations of the import rules', () => {
    expect(violations(tree)).toEqual([])
  })

  test('each folder of this repository has one entry point, and no chain of re-exports', () => {
    expect(entryPointFaults(tree)).toEqual([])
  })

  test('this repository has no line over 120 columns, and no file over 500 lines', () => {
    const paths = filesBelow(root, '').filter((path) => /\.([cm]?[jt]s|tsx|css|[ch]pp|h|cs|gd)$/.test(path))
    expect(paths.length).toBeGreaterThan(tree.modules.size)
    expect(layoutFaults(paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })))).toEqual([])
  })

  test('this repository has at most 20 source files a folder, and each base name once in a package', () => {
    expect(folderFaults([...tree.modules.keys()])).toEqual([])
  })

  test('the import rules are checked for the whole repository', () => {
    const paths = [...tree.modules.keys()]
    for (const folder of [
      'packages/core/src/api/',
      'packages/matchmaker/',
      'packages/relay/',
      'packages/emulator/',
      'packages/redis/',
      'tools/',
      'test/',
      'examples/',
      'bench/',
    ]) {
      expect(paths.filter((path) => path.startsWith(folder)).length, folder).toBeGreaterThan(0)
    }
    expect([...tree.entryPoints.values()].filter((path) => !tree.modules.has(path))).toEqual([])
    expect([...tree.modules.values()].filter(({ pure }) => pure).length).toBeGreaterThan(0)
  })
})

const entryPoints = new Map([
  ['@muster/core', 'packages/core/src/index.ts'],
  ['@muster/core/api', 'packages/core/src/api/index.ts'],
  ['@muster/core/clock', 'packages/core/src/time.ts'],
  ['@muster/matchmaker', 'packages/matchmaker/src/index.ts'],
  ['@muster/relay', 'packages/relay/src/index.ts'],
  ['@muster/emulator', 'packages/emulator/src/index.ts'],
])

/** A small valid tree. Each test replaces or adds one file, so that exactly one fault exists. */
const sound = {
  'packages/core/src/index.ts': "export { createClient } from './client.js'\nexport { km, type Place } from './geo.js'",
  'packages/core/src/time.ts': 'export const systemClock = 1',
  'packages/core/src/client.ts': "import { operations } from './api/index.js'\nexport const createClient = operations",
  'packages/core/src/geo.ts': '// pure: distances\nexport interface Place { x: number }\nexport const km = 1',
  'packages/core/src/operation.ts': "import type { z } from 'zod'\nexport type T = z.ZodType",
  'packages/core/src/api/index.ts': "import { fleets } from './fleets.js'\nexport const operations = fleets",
  'packages/core/src/api/fleets.ts':
    "import { z } from 'zod'\nimport type { T } from '../operation.js'\nexport const fleets: T = z.string()",
  'packages/matchmaker/src/index.ts': "export { group } from './wait-times/group.js'",
  'packages/matchmaker/src/wait-times/group.ts':
    "// pure: grouping\nimport { km, type Place } from '@muster/core'\nexport const group = (at: Place) => km + at.x",
  'packages/relay/src/index.ts': "import { createClient } from '@muster/core'\nexport const relay = createClient",
  'packages/emulator/src/index.ts':
    "import { operations } from '@muster/core/api'\nimport { systemClock } from '@muster/core/clock'\n" +
    'export const e = [operations, systemClock]',
  'test/all.test.ts':
    "import { createClient } from '@muster/core'\nimport { e } from '@muster/emulator'\ncreateClient(e)",
  'vitest.config.ts': 'export default {}',
}

function breaches(changed: Readonly<Record<string, string>>): string[] {
  const modules = Object.entries({ ...sound, ...changed }).map(
    ([path, source]) => [path, parseModule(path, source)] as const,
  )
  return violations({ modules: new Map(modules), entryPoints })
}

test('a valid tree has no violations of the import rules', () => {
  expect(breaches({})).toEqual([])
})

test.each([
  [
    'the matchmaker imports the emulator',
    'packages/matchmaker/src/wait-times/x.ts',
    "import { e } from '@muster/emulator'",
    '@muster/emulator, which matchmaker may not',
  ],
  [
    'a test of the matchmaker imports the emulator',
    'packages/matchmaker/src/x.test.ts',
    "import { e } from '@muster/emulator'",
    '@muster/emulator, which matchmaker may not',
  ],
  [
    'the relay imports a type of the emulator',
    'packages/relay/src/x.ts',
    "import type { e } from '@muster/emulator'",
    '@muster/emulator, which relay may not',
  ],
  [
    'the relay imports the emulator dynamically',
    'packages/relay/src/x.ts',
    "export const x = () => import('@muster/emulator')",
    '@muster/emulator, which relay may not',
  ],
  [
    'the relay imports the emulator within a type',
    'packages/relay/src/x.ts',
    "export type X = import('@muster/emulator').E",
    '@muster/emulator, which relay may not',
  ],
  [
    'the relay imports the matchmaker',
    'packages/relay/src/x.ts',
    "export { group } from '@muster/matchmaker'",
    '@muster/matchmaker, which relay may not',
  ],
  [
    'the emulator imports the client',
    'packages/emulator/src/x.ts',
    "import { createClient } from '@muster/core'",
    '@muster/core, which emulator may not',
  ],
  [
    'core imports another package',
    'packages/core/src/x.ts',
    "import { group } from '@muster/matchmaker'",
    '@muster/matchmaker, which core may not',
  ],
  [
    'a package imports an inner file of another',
    'packages/relay/src/x.ts',
    "import { km } from '../../core/src/geo.js'",
    'instead of using its entry point',
  ],
  [
    'a test imports an inner file of a package',
    'test/x.ts',
    "import { km } from '../packages/core/src/geo.js'",
    'instead of using its entry point',
  ],
  [
    'a test imports an unknown entry point',
    'test/x.ts',
    "import { km } from '@muster/core/geo'",
    'which is no entry point',
  ],
  ['a test imports an unknown module', 'test/x.ts', "import { km } from './geo.js'", 'which is no module'],
  [
    'the API description imports a dependency',
    'packages/core/src/api/x.ts',
    "import { LRUCache } from 'lru-cache'",
    'part of the API description, yet imports lru-cache',
  ],
  [
    'the API description imports the client',
    'packages/core/src/api/x.ts',
    "import type { C } from '../client.js'",
    'part of the API description, yet imports ../client.js',
  ],
  [
    'a pure file imports an impure one',
    'packages/core/src/x.ts',
    "// pure: x\nimport { createClient } from './client.js'",
    'marked pure, yet imports more than types from ./client.js',
  ],
  [
    'a pure file imports the namespace of an impure one',
    'packages/core/src/x.ts',
    "// pure: x\nimport * as all from './client.js'",
    'marked pure, yet imports more than types from ./client.js',
  ],
  [
    'a pure file imports an impure re-export of another package',
    'packages/matchmaker/src/wait-times/x.ts',
    "// pure: x\nimport { km, createClient } from '@muster/core'",
    'from @muster/core',
  ],
  [
    'a pure file imports an impure module of Node.js',
    'packages/core/src/x.ts',
    "// pure: x\nimport { readFileSync } from 'node:fs'",
    'from node:fs',
  ],
])('a violation of the import rules is reported: %s', (_, path, source, message) => {
  const found = breaches({ [path]: source })
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(`${path}: `)
  expect(found[0]).toContain(message)
})

test('a pure file may import types, pure files and data', () => {
  const source = [
    '// pure: x',
    "import type { Client } from './client.js'",
    "import { type Client as Other } from './client.js'",
    "import { km } from './geo.js'",
    "import { operations } from './api/index.js'",
    "import ipaddr from 'ipaddr.js'",
  ]
  expect(breaches({ 'packages/core/src/x.ts': source.join('\n') })).toEqual([])
})

test('the entry point of the API description may re-export pure files', () => {
  const index = "export { fleets as operations } from './fleets.js'\n"
  const passingOn = `${index}export { km, type Place } from '../geo.js'`
  expect(breaches({ 'packages/core/src/api/index.ts': passingOn })).toEqual([])
  const [breach] = breaches({ 'packages/core/src/api/index.ts': `${index}export { systemClock } from '../time.js'` })
  expect(breach).toContain('part of the API description, yet imports ../time.js')
})

test('an import in a comment or a string is not a violation', () => {
  const source = "/** import { e } from '@muster/emulator' */\nexport const x = `import { e } from '@muster/emulator'`"
  expect(breaches({ 'packages/relay/src/x.ts': source })).toEqual([])
})

test("an import of './page.js' leads to the file page.tsx", () => {
  const page = { 'packages/core/src/page.tsx': 'export const page = <p>one</p>' }
  const found = "import { page } from './page.js'\nconst x = page"
  expect(breaches({ ...page, 'packages/core/src/x.ts': found })).toEqual([])
  const [breach] = breaches({ ...page, 'packages/core/src/x.tsx': found.replace('page.js', 'pages.js') })
  expect(breach).toBe('packages/core/src/x.tsx: imports ./pages.js, which is no module')
})

test('export * and default exports are violations', () => {
  expect(breaches({ 'test/x.ts': "export * from './all.test.js'" })).toEqual(['test/x.ts: has export *'])
  expect(breaches({ 'test/x.ts': 'export default 1' })).toEqual(['test/x.ts: has a default export'])
  expect(breaches({ 'test/x.ts': 'const x = 1\nexport { x as default }' })).toEqual(['test/x.ts: has a default export'])
})

test('import cycles of any length are violations, even through entry points and of types', () => {
  expect(breaches({ 'test/a.ts': "import './b.js'", 'test/b.ts': "import { a } from './a.js'" })).toEqual([
    'test/a.ts: imports itself by test/b.ts → test/a.ts',
  ])
  const geo =
    "import { createClient } from '@muster/core'\nexport interface Place { x: number }\nexport const km = createClient"
  expect(breaches({ 'packages/core/src/geo.ts': geo })).toContain(
    'packages/core/src/index.ts: imports itself by packages/core/src/geo.ts → packages/core/src/index.ts',
  )
  expect(breaches({ 'test/a.ts': "import './b.js'", 'test/b.ts': "import type { A } from './a.js'" })).toEqual([
    'test/a.ts: imports itself by test/b.ts → test/a.ts',
  ])
})

describe('the layers of the matchmaker', () => {
  const src = 'packages/matchmaker/src'
  const folders = {
    [`${src}/wait-times/pool.ts`]: 'export const pool = 1',
    [`${src}/tickets/tickets.ts`]: 'export const tickets = 1',
  }

  test('the layers of the matchmaker may import from lower layers and from themselves', () => {
    const down = "import { pool } from '../wait-times/pool.js'\nimport './searching.js'\nexport const tickets = pool"
    expect(breaches({ ...folders, [`${src}/tickets/tickets.ts`]: down, [`${src}/tickets/searching.ts`]: '' })).toEqual(
      [],
    )
  })

  test.each([
    [
      'from a higher layer',
      'wait-times/pool.ts',
      "import type { T } from '../tickets/tickets.js'\nexport type P = T",
      'tickets/tickets.js, of tickets, which is not below wait-times',
    ],
    [
      'from its own level',
      'errors.ts',
      "import { pool } from './wait-times/pool.js'\nexport const id = pool",
      'of wait-times, which is not below errors',
    ],
    ['from a folder without a layer', 'attic/old.ts', 'export const old = 1', 'is in attic, which has no layer'],
  ])('a layer of the matchmaker may not import %s', (_, path, source, message) => {
    const [breach, ...others] = breaches({ ...folders, [`${src}/${path}`]: source })
    expect(breach).toContain(message)
    expect(others).toEqual([])
  })

  test('tests may import all layers of the matchmaker', () => {
    const source = "import { tickets } from '../tickets/tickets.js'\nconst x = tickets"
    expect(breaches({ ...folders, [`${src}/wait-times/pool.test.ts`]: source })).toEqual([])
  })
})

test('the folders of the server are in layers, too, including their subfolders', () => {
  const importing = "import { a } from '../../auth/a.js'\nexport const x = a"
  const below = (path: string) =>
    breaches({ 'packages/server/src/auth/a.ts': 'export const a = 1', [`packages/server/src/${path}`]: importing })
  expect(below('console/trials/x.ts')).toEqual([])
  expect(below('config/files/x.ts')[0]).toContain('of auth, which is not below config')
})

describe('a folder with an entry point', () => {
  const src = 'packages/relay/src'
  const faults = (changed: Readonly<Record<string, string>>) => {
    const files = Object.entries({ 'packages/relay/src/index.ts': '', ...changed })
    return entryPointFaults({
      modules: new Map(files.map(([path, text]) => [path, parseModule(path, text)])),
      entryPoints,
    })
  }
  const folder = {
    [`${src}/folder/entry.ts`]: 'export const a = 1',
    [`${src}/folder/inner/deep.ts`]: 'export const b = 1',
  }

  test('a folder with an entry point is imported only through one file, possibly its index.ts', () => {
    const user = "import { a } from './folder/entry.js'\nconst x = a"
    expect(faults({ ...folder, [`${src}/x.ts`]: user })).toEqual([])
    expect(faults({ ...folder, [`${src}/x.ts`]: `${user}\nimport type { b } from './folder/inner/deep.js'` })).toEqual([
      `${src}/x.ts: imports ${src}/folder/entry.ts, past the entry point ${src}/folder/index.ts`,
      `${src}/x.ts: imports ${src}/folder/inner/deep.ts, past the entry point ${src}/folder/index.ts`,
    ])
    const index = "export { a } from './entry.js'\nexport { b } from './inner/deep.js'"
    const proper = "import { a, b } from './folder/index.js'\nconst x = a + b"
    expect(faults({ ...folder, [`${src}/folder/index.ts`]: index, [`${src}/x.ts`]: proper })).toEqual([])
    const gathered = { ...folder, [`${src}/folder/index.ts`]: index, [`${src}/x.ts`]: proper }
    expect(faults({ ...gathered, [`${src}/y.ts`]: user })).toEqual([
      `${src}/y.ts: imports ${src}/folder/entry.ts, past the entry point ${src}/folder/index.ts`,
    ])
  })

  test('a folder can be imported fully by itself, its tests and the entry points of the package', () => {
    const inside = { [`${src}/folder/other.ts`]: "import { b } from './inner/deep.js'\nexport const c = b" }
    const tests = { [`${src}/x.test.ts`]: "import { b } from './folder/inner/deep.js'\nconst x = b" }
    const gathering = "export { a } from './folder/entry.js'\nexport { b } from './folder/inner/deep.js'"
    const entry = { [`${src}/index.ts`]: gathering }
    expect(faults({ ...folder, ...inside, ...tests, ...entry })).toEqual([])
  })

  test('an entry point re-exports from its folder, and not from other entry points', () => {
    const chain = {
      [`${src}/folder/inner/index.ts`]: "export { b } from './deep.js'",
      [`${src}/folder/index.ts`]: "export { b } from './inner/index.js'",
    }
    expect(faults({ ...folder, ...chain })).toEqual([
      `${src}/folder/index.ts: passes on what ${src}/folder/inner/index.ts has`,
    ])
    expect(faults({ ...folder, [`${src}/x.ts`]: "export type { a } from './folder/entry.js'" })).toEqual([
      `${src}/x.ts: passes on what ${src}/folder/entry.ts has`,
    ])
  })
})
