import { parseAst } from 'vitest/node'

interface Named {
  readonly name?: string
  readonly value?: unknown
}

interface Statement {
  readonly type: string
  readonly specifiers?: readonly { readonly exported: Named }[]
  readonly declaration?: { readonly id?: Named; readonly declarations?: readonly { readonly id: Named }[] } | null
}

const textOf = ({ name, value }: Named) => name ?? String(value)

/**
 * Returns the names that a module exports, including types. `export *` and default exports are reported as violations.
 */
export function exportedNames(path: string, source: string): string[] {
  const { body } = parseAst(source, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as {
    readonly body: readonly Statement[]
  }
  return body.flatMap(({ type, specifiers = [], declaration }) => {
    if (type !== 'ExportNamedDeclaration') return []
    const { id, declarations = [] } = declaration ?? {}
    const declared = [...(id === undefined ? [] : [id]), ...declarations.map((one) => one.id)]
    return [...specifiers.map(({ exported }) => exported), ...declared].map(textOf)
  })
}
