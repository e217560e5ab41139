// pure: two OpenAPI documents as one

type Members = Readonly<Record<string, unknown>>

/** A document of `openApiDocument`. */
interface Document {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Members>>>>
  readonly components: Readonly<Record<string, Members>>
}

/**
 * The first document with what the second has besides. Ids of the second's operations begin with a prefix, because ids
 * must differ in one document.
 */
export function mergeDocuments<First extends Document>(first: First, second: Document, prefix: string): First {
  const paths = Object.entries(second.paths).map(
    ([path, operations]) => [path, mapValues(operations, (operation) => renamed(operation, prefix))] as const,
  )
  const known = new Set(first.tags.map(({ name }) => name))
  return {
    ...first,
    tags: [...first.tags, ...second.tags.filter(({ name }) => !known.has(name))],
    paths: { ...Object.fromEntries(paths), ...first.paths },
    components: mapValues({ ...second.components, ...first.components }, (_, kind) => ({
      ...second.components[kind],
      ...first.components[kind],
    })),
  }
}

const renamed = (operation: Members, prefix: string): Members => ({
  ...operation,
  operationId: `${prefix}_${String(operation['operationId'])}`,
})

const mapValues = <Value, Mapped>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
