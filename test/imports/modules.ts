import { parseAst } from 'vitest/node'

/** One import, or re-export, of another module. */
export interface Import {
  readonly specifier: string
  /** The imported names that exist at run time; 'all' for a namespace, a side effect or a dynamic import. */
  readonly values: readonly string[] | 'all'
  /** The names under which a re-export exports `values`, in the same order; empty for an import. */
  readonly reexported: readonly string[]
  /** True for a re-export, even if it exports only types. */
  readonly reexports: boolean
}

export interface Module {
  /** Path from the repository's root, with slashes. */
  readonly path: string
  readonly imports: readonly Import[]
  readonly exportsStar: boolean
  readonly exportsDefault: boolean
  /** True if one of the file's first lines is a comment that starts with "pure". */
  readonly pure: boolean
}

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

/** Returns the node and all nodes below it, level by level. */
function descendants(node: Node): readonly Node[] {
  const found = [node]
  // The loop also visits the nodes that it appends.
  for (const one of found) {
    for (const value of Object.values(one)) {
      if (!Array.isArray(value)) {
        if (isNode(value)) found.push(value)
      } else for (const child of value) if (isNode(child)) found.push(child)
    }
  }
  return found
}

const textOf = (node: unknown) => (isNode(node) && typeof node['value'] === 'string' ? node['value'] : undefined)
/** Returns the name of an identifier, or the text of a quoted name. */
const nameOf = (node: unknown) => (isNode(node) ? String(node['name'] ?? node['value']) : '')

/** Returns the import or re-export specifiers in braces that exist at run time. */
function valuesIn(node: Node, kind: 'importKind' | 'exportKind'): readonly Node[] | 'all' {
  const specifiers = (node['specifiers'] ?? []) as readonly Node[]
  if (node[kind] === 'type') return []
  if (specifiers.length === 0 || specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier')) return 'all'
  return specifiers.filter((specifier) => specifier[kind] !== 'type')
}

function importIn(node: Node): Import | undefined {
  const specifier = textOf(node['source'])
  if (specifier === undefined) return undefined
  switch (node['type']) {
    case 'ImportDeclaration': {
      const values = valuesIn(node, 'importKind')
      return {
        specifier,
        values:
          values === 'all'
            ? values
            : values.map(({ imported }) => (imported === undefined ? 'default' : nameOf(imported))),
        reexported: [],
        reexports: false,
      }
    }
    case 'ExportNamedDeclaration': {
      const values = valuesIn(node, 'exportKind')
      if (values === 'all') return { specifier, values, reexported: [], reexports: true }
      return {
        specifier,
        values: values.map(({ local }) => nameOf(local)),
        reexported: values.map(({ exported }) => nameOf(exported)),
        reexports: true,
      }
    }
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return { specifier, values: 'all', reexported: [], reexports: node['type'] === 'ExportAllDeclaration' }
    case 'TSImportType':
      return { specifier, values: [], reexported: [], reexports: false }
    default:
      return undefined
  }
}

const exportsDefaultIn = (node: Node) =>
  node['type'] === 'ExportDefaultDeclaration' ||
  (node['type'] === 'ExportNamedDeclaration' &&
    (node['specifiers'] as readonly Node[]).some(({ exported }) => nameOf(exported) === 'default'))

function parse(path: string, source: string): unknown {
  try {
    return parseAst(source, { lang: path.endsWith('x') ? 'tsx' : 'ts' })
  } catch (cause) {
    throw new Error(`cannot parse ${path}`, { cause })
  }
}

export function parseModule(path: string, source: string): Module {
  const program = parse(path, source)
  const nodes = isNode(program) ? descendants(program) : []
  return {
    path,
    imports: nodes.map(importIn).filter((found) => found !== undefined),
    exportsStar: nodes.some(({ type }) => type === 'ExportAllDeclaration'),
    exportsDefault: nodes.some(exportsDefaultIn),
    pure: source.split('\n', 3).some((line) => /^\/\/ pure\b/.test(line)),
  }
}
