import { readFileSync, readdirSync } from 'node:fs'
import { Application, type TypeDocOptions } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { root } from './links.js'

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, { readonly types?: string; readonly '@muster/source': string }>>
}

/** Returns the sources of the public entry points by name, e.g. of `@muster/core/http`. */
export function doors(): Map<string, string> {
  const found = new Map<string, string>()
  for (const folder of readdirSync(`${root}packages`)) {
    const { name, exports = {} } = JSON.parse(
      readFileSync(`${root}packages/${folder}/package.json`, 'utf8'),
    ) as Manifest
    for (const [path, { types, '@muster/source': source }] of Object.entries(exports))
      if (types !== undefined && path !== './internal')
        found.set(`${name}${path.slice(1)}`, `${root}packages/${folder}/${source.replace('./', '')}`)
  }
  return found
}

const options: TypeDocOptions & Partial<PluginOptions> = {
  plugin: ['typedoc-plugin-markdown'],
  router: 'member',
  tsconfig: `${root}site/tsconfig.typedoc.json`,
  // `pnpm typecheck` reports errors.
  skipErrorChecking: true,
  validation: false,
  logLevel: 'Error',
  readme: 'none',
  disableSources: true,
  disableGit: true,
  excludePrivate: true,
  excludeInternal: true,
  entryFileName: 'index',
  membersWithOwnFile: ['Class', 'Function', 'Interface'],
  pageTitleTemplates: { module: '{name}', member: '{name}' },
  indexFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideInherited: true, hideOverrides: true, hideSources: true },
  hidePageHeader: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  enumMembersFormat: 'table',
  sanitizeComments: true,
  useHTMLEncodedBrackets: true,
}

/** Writes a page for each exported name into a folder, from the doc comments. */
export async function writeApiPages(folder: string): Promise<void> {
  const sources = new Map([...doors()].map(([name, source]) => [source, name]))
  const app = await Application.bootstrapWithPlugins({
    ...(options as TypeDocOptions),
    entryPoints: [...sources.keys()],
    out: folder,
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('typedoc found no entry points')
  project.name = 'TypeScript API'
  for (const module of project.children ?? []) {
    const source = project.getSymbolIdFromReflection(module)?.fileName ?? ''
    module.name = sources.get(source) ?? module.name
  }
  await app.generateOutputs(project)
}
