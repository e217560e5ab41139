import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'

/**
 * Reads the doc comments of the API description from its sources. Only interfaces explain fields, and the OpenAPI
 * document takes its descriptions from there.
 */

/** Doc comments of the description, by type and field, read from its sources. */
export type Comments = Readonly<Record<string, TypeComment>>

/** The comment on an interface and those on its fields, including inherited fields. */
export interface TypeComment {
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldComment>>
}

/** The doc comment of one field. */
export interface FieldComment {
  readonly description?: string
  readonly deprecated?: boolean
  /** Known values of a string field that allows others too. */
  readonly examples?: readonly string[]
  /** Comments on the fields of the object, or of the objects in the list, that the field holds. */
  readonly fields?: Readonly<Record<string, FieldComment>>
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
const nodesIn = (value: unknown) => (Array.isArray(value) ? value.filter(isNode) : [])
const childOf = (node: Node, key: string): Node | undefined => {
  const child = node[key]
  return isNode(child) ? child : undefined
}
const nameOf = (node: Node | undefined) => String(node?.['name'] ?? '')

/** A declared interface or type, with its source text. */
interface Declaration {
  readonly node: Node
  /** Offset at which its doc comment ends. */
  readonly start: number
  readonly source: string
}

/** @param folder of the sources, e.g. packages/core/src/api. */
export function readComments(folder: URL): Comments {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(name))
  return commentsIn(files.map((name) => readFileSync(new URL(name, `${folder.href}/`), 'utf8')))
}

/** Returns the doc comments of operations by route, without their first sentences. */
export function readOperationComments(folder: URL): Readonly<Record<string, string>> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  const sources = files.map((name) => readFileSync(new URL(name, `${folder.href}/`), 'utf8'))
  const found = sources.flatMap((source) => [
    ...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*\w+: operation\(\s*'([^']+)'/g),
  ])
  return Object.fromEntries(
    found.map(([, comment = '', route = '']) => {
      const text = comment.replaceAll(/\s*\n\s*\* ?/g, ' ').trim()
      return [route, text.slice(text.indexOf('Limit:')).replace(/\s*@deprecated/, '')]
    }),
  )
}

/** Returns the doc comments in sources. The sources must declare all types that they extend. */
export function commentsIn(sources: readonly string[]): Comments {
  const declared = new Map<string, Declaration>(sources.flatMap(declarations))
  return Object.fromEntries(Array.from(declared, ([name, declaration]) => [name, typeComment(declaration, declared)]))
}

function declarations(source: string): [name: string, Declaration][] {
  const program: unknown = parseAst(source, { lang: 'ts' })
  return nodesIn(isNode(program) ? program['body'] : []).flatMap((statement): [string, Declaration][] => {
    const node = childOf(statement, 'declaration') ?? statement
    const declares = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
    return declares ? [[nameOf(childOf(node, 'id')), { node, start: statement.start, source }]] : []
  })
}

type Declared = ReadonlyMap<string, Declaration>

function typeComment({ node, start, source }: Declaration, declared: Declared): TypeComment {
  const { description } = commentBefore(source, start)
  const alias = childOf(node, 'typeAnnotation')
  const fields = alias === undefined ? fieldsOfInterface(node, source, declared) : fieldsInside(alias, source, declared)
  return { ...(description !== undefined && { description }), fields: fields ?? {} }
}

/** Inherited fields first, so that an interface's own comment on a field wins. */
function fieldsOfInterface(node: Node, source: string, declared: Declared): Record<string, FieldComment> {
  const inherited = nodesIn(node['extends']).map((heritage) =>
    inheritedFrom(nameOf(childOf(heritage, 'expression')), heritage, declared),
  )
  const own = fieldsOfMembers(nodesIn(childOf(node, 'body')?.['body']), source, declared)
  return Object.assign({}, ...inherited, own) as Record<string, FieldComment>
}

/** Returns the fields of an interface, also within `Omit` and `Masked`. */
function inheritedFrom(name: string, reference: Node, declared: Declared): Record<string, FieldComment> {
  const [inner, omitted] = nodesIn(childOf(reference, 'typeArguments')?.['params'])
  if (inner !== undefined && (name === 'Omit' || name === 'Masked')) {
    const fields = inheritedFrom(nameOf(childOf(inner, 'typeName')), inner, declared)
    const left = literalsIn(omitted)
    return Object.fromEntries(Object.entries(fields).filter(([key]) => !left.includes(key)))
  }
  const declaration = declared.get(name)
  if (declaration === undefined) throw new Error(`no interface ${name} in the sources`)
  return fieldsOfInterface(declaration.node, declaration.source, declared)
}

function fieldsOfMembers(members: readonly Node[], source: string, declared: Declared): Record<string, FieldComment> {
  const fields = members.filter(({ type }) => type === 'TSPropertySignature')
  return Object.fromEntries(
    fields.map((field) => {
      const type = childOf(field, 'typeAnnotation')
      const inside = type && fieldsInside(type, source, declared)
      const examples = type && isOpen(type, declared) ? literalsIn(type, declared) : []
      const comment: FieldComment = {
        ...commentBefore(source, field.start),
        ...(examples.length > 0 && { examples }),
        ...(inside !== undefined && { fields: inside }),
      }
      return [nameOf(childOf(field, 'key')), comment]
    }),
  )
}

/** Returns the fields of a type that is an object or a list of objects; undefined for other types. */
function fieldsInside(type: Node, source: string, declared: Declared): Record<string, FieldComment> | undefined {
  if (type.type === 'TSTypeLiteral') {
    const members = nodesIn(type['members'])
    return members.length === 0 ? undefined : fieldsOfMembers(members, source, declared)
  }
  const named = declared.get(nameOf(childOf(type, 'typeName')))
  if (named?.node.type === 'TSInterfaceDeclaration') return fieldsOfInterface(named.node, named.source, declared)
  // A generic type such as Masked is replaced by its argument.
  return partsOf(type, declared)
    .map((part) => fieldsInside(part, source, declared))
    .find((fields) => fields !== undefined)
}

/** Returns the string literals of a type. */
function literalsIn(type: Node | undefined, declared: Declared = new Map()): string[] {
  if (type === undefined) return []
  const value = childOf(type, 'literal')?.['value']
  if (type.type === 'TSLiteralType') return typeof value === 'string' ? [value] : []
  return partsOf(type, declared).flatMap((part) => literalsIn(part, declared))
}

/** True if a type is a string with some known values, written `'one' | 'other' | (string & {})`. */
function isOpen(type: Node, declared: Declared): boolean {
  return type.type === 'TSIntersectionType' || partsOf(type, declared).some((part) => isOpen(part, declared))
}

/** Returns the members of a union, also behind an alias. Interfaces are not resolved. */
function partsOf(type: Node, declared: Declared): Node[] {
  if (type.type === 'TSTypeLiteral') return []
  const alias = declared.get(nameOf(childOf(type, 'typeName')))?.node
  return [
    ...nodesIn(type['types']),
    ...nodesIn(childOf(type, 'typeArguments')?.['params']),
    ...['typeAnnotation', 'elementType'].map((key) => childOf(type, key)),
    alias?.type === 'TSTypeAliasDeclaration' ? childOf(alias, 'typeAnnotation') : undefined,
  ].filter((part) => part !== undefined)
}

/** Returns the doc comment that ends right before an offset. */
function commentBefore(source: string, start: number): Pick<FieldComment, 'description' | 'deprecated'> {
  const before = source.slice(0, start).trimEnd()
  if (!before.endsWith('*/')) return {}
  const text = before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join(' ')
    .trim()
  const deprecated = /^@deprecated\s*/.exec(text)?.[0]
  return { description: text.slice(deprecated?.length ?? 0), ...(deprecated !== undefined && { deprecated: true }) }
}
