import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from '@microsoft/api-extractor'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const into = mkdtempSync(join(tmpdir(), 'muster-api-'))
afterAll(() => rmSync(into, { recursive: true }))

interface EntryPoint {
  /** File name of the report. */
  readonly file: string
  readonly name: string
  readonly config: ExtractorConfig
}

type Exports = Readonly<Record<string, { readonly types?: string }>>

/** The public entry points of a package. `/internal` and test helpers are left out, because they are not published. */
function entryPointsOf(folder: string): EntryPoint[] {
  const packageJsonFullPath = join(root, 'packages', folder, 'package.json')
  const { name, exports = {} } = JSON.parse(readFileSync(packageJsonFullPath, 'utf8')) as {
    readonly name: string
    readonly exports?: Exports
  }
  return Object.entries(exports).flatMap(([subpath, { types }]) => {
    if (subpath === './internal' || types === undefined) return []
    const file = `${[folder, ...subpath.split('/').slice(1)].join('.')}.api.md`
    const mainEntryPointFilePath = join(root, 'packages', folder, types)
    const config = ExtractorConfig.prepare({
      configObject: {
        projectFolder: join(root, 'packages', folder),
        mainEntryPointFilePath,
        newlineKind: 'lf',
        // The matchmaker re-exports types of this package. Only its report describes their members, so they are bundled
        // into it.
        bundledPackages: ['@muster/hosting'],
        compiler: {
          overrideTsconfig: {
            compilerOptions: {
              target: 'es2023',
              lib: ['es2023', 'dom', 'dom.iterable'],
              module: 'nodenext',
              moduleResolution: 'nodenext',
              strict: true,
              exactOptionalPropertyTypes: true,
              skipLibCheck: true,
              types: [],
              typeRoots: [join(root, 'node_modules/@types')],
            },
            files: [mainEntryPointFilePath],
          },
        },
        apiReport: {
          enabled: true,
          // Include types that no entry point exports, because public signatures use them.
          includeForgottenExports: true,
          reportFolder: into,
          reportTempFolder: into,
          reportFileName: file,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: {
          compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
          extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
          tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        },
      },
      configObjectFullPath: undefined,
      packageJsonFullPath,
    })
    return [{ file, name: `${name}${subpath.slice(1)}`, config }]
  })
}

const entryPoints = readdirSync(join(root, 'packages')).flatMap(entryPointsOf)

/** One compiler program for all entry points, which share most of their types. */
let compilerState: CompilerState
beforeAll(() => {
  const [first, ...others] = entryPoints.map(({ config }) => config)
  compilerState = CompilerState.create(first as ExtractorConfig, {
    additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  })
})

test.each(entryPoints)(
  'the entry point $name has the public surface of its report, which `pnpm api` updates',
  async ({ file, config }) => {
    const complaints: string[] = []
    Extractor.invoke(config, {
      compilerState,
      // Write the report. The test compares it with the report in git below.
      localBuild: true,
      messageCallback: (message) => {
        if (message.category === ExtractorMessageCategory.Compiler) complaints.push(message.text)
        message.handled = true
      },
    })
    expect(complaints).toEqual([])
    await expect(readFileSync(join(into, file), 'utf8')).toMatchFileSnapshot(`../api/${file}`)
  },
)

test('no API report exists of a removed entry point', () => {
  const files = entryPoints.map(({ file }) => file)
  expect(readdirSync(join(root, 'api')).filter((file) => !files.includes(file))).toEqual([])
})
