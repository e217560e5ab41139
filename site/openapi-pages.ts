/** A part of a parsed OpenAPI document or JSON schema. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

interface Body {
  readonly description?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body & { readonly $ref?: string }>>
  readonly 'x-rate-limit'?: { readonly limit: number; readonly windowMs: number }
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Body>>
  }
}

interface Place {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** Returns an operation's title: its summary up to a semicolon. The rest becomes the beginning of its description. */
function titled({ summary, description = '' }: Operation): { title: string; text: string } {
  const [title = '', ...rest] = summary.split('; ')
  const more = rest.join('; ')
  return { title, text: `${more === '' ? '' : `${more[0]?.toUpperCase()}${more.slice(1)}. `}${description}` }
}

const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)
const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
/** Returns a text as a table cell. */
const cell = (text = '') =>
  text
    .replace(/</g, '&lt;')
    .replace(/\|/g, '\\|')
    .replace(/\s*\n\s*/g, ' ')
const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

function limits(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  const range = (least: number | undefined, most: number | undefined, unit: string) =>
    most !== undefined && most < Number.MAX_SAFE_INTEGER
      ? [least === undefined || (least === 0 && unit !== '') ? `up to ${most}${unit}` : `${least} to ${most}${unit}`]
      : least === undefined || (least === 0 && unit !== '')
        ? []
        : [`${least}${unit} or more`]
  const parts = [
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...range(minimum, maximum, ''),
    ...(pattern === undefined ? [] : [code(pattern)]),
    ...(schema.default === undefined ? [] : [`default ${code(schema.default)}`]),
  ]
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`
}

/** Returns the type of a schema in words, e.g. `array of string or null`. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `[${nameOf(schema.$ref)}](schemas.md#${slug(nameOf(schema.$ref))})`
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ')
  if (schema.const !== undefined) return code(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ')
  const types = schema.type === undefined ? ['any value'] : [schema.type].flat()
  const words = types.map((type) =>
    type === 'array' && schema.items !== undefined ? `array of ${typeOf(schema.items)}` : type,
  )
  return `${words.join(' or ')}${schema.format === undefined ? '' : ` (${schema.format})`}${limits(schema)}`
}

/** Returns a row for each field of an object, and of the objects inside it, e.g. `members[].player_id`. */
function fields(schema: Schema, prefix = ''): string[][] {
  const inner = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  const own = inner.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, field]) => [
      [
        `\`${prefix}${name}\`${required.includes(name) ? '' : ' (optional)'}`,
        cell(typeOf(field)),
        cell(field.description),
      ],
      ...fields(field, `${prefix}${name}.`),
    ]),
  )
  const items = inner.flatMap((one) =>
    one.items === undefined ? [] : fields(one.items, prefix === '' ? '[].' : `${prefix.slice(0, -1)}[].`),
  )
  // A field that several alternatives have is listed once.
  return [...new Map([...own, ...items].map((row) => [row.join(' '), row])).values()]
}

function describe(body: Body): string {
  const [kind, { schema }] = Object.entries(body.content ?? {})[0] ?? ['', {} as { schema?: Schema }]
  if (schema === undefined) return ''
  const rows = table(['field', 'type', 'meaning'], fields(schema))
  return `\`${kind}\`: ${typeOf(schema)}\n\n${rows}`
}

function section({ path, method, operation }: Place, document: OpenApi): string {
  const { parameters = [], requestBody, security, deprecated } = operation
  const { title, text } = titled(operation)
  const limit = operation['x-rate-limit']
  const answers = Object.entries(operation.responses).map(
    ([status, { $ref, ...answer }]) =>
      [status, $ref === undefined ? answer : (document.components.responses?.[nameOf($ref)] ?? {})] as const,
  )
  const good = answers.filter(([status]) => status < '4')
  const errors = answers.filter(([status]) => status >= '4')
  const typeOfAnswer = (answer: Body) => {
    const [schema] = Object.values(answer.content ?? {}).map((one) => one.schema)
    return schema === undefined ? '' : typeOf(schema)
  }
  return [
    `## ${title}\n`,
    `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\`\n`,
    deprecated === true ? '> [!WARNING]\n> Deprecated.\n' : '',
    text.replace(/</g, '&lt;'),
    limit === undefined ? '' : `Rate limit: ${limit.limit} requests per ${limit.windowMs} ms.`,
    security?.length === 0 ? 'No token is needed.' : '',
    parameters.length === 0 ? '' : '**Parameters**\n',
    table(
      ['name', 'in', 'type', 'meaning'],
      parameters.map((one) => [
        `\`${one.name}\`${one.required === true ? '' : ' (optional)'}`,
        one.in,
        cell(typeOf(one.schema ?? {})),
        cell(one.description),
      ]),
    ),
    requestBody === undefined ? '' : `**Body** ${describe(requestBody)}`,
    ...good.map(([status, answer]) => `**Answer ${status}** ${cell(answer.description)}. ${describe(answer)}`),
    errors.length === 0 ? '' : '**Errors**\n',
    table(
      ['status', 'meaning', 'body'],
      errors.map(([status, answer]) => [status, cell(answer.description), cell(typeOfAnswer(answer))]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/**
 * Returns the pages of an OpenAPI document by file name: an overview, one page for each tag, and the schemas.
 * @param name name of the API in titles, e.g. `Ticket API`
 */
export function openApiPages(document: OpenApi, name: string): Map<string, string> {
  const places = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const pages = new Map<string, string>()
  const list = (of: readonly Place[], page: string) =>
    table(
      ['request', 'what it does'],
      of.map(({ path, method, operation }) => [
        `\`${method.toUpperCase()} ${path}\``,
        `[${titled(operation).title}](${page}#${slug(titled(operation).title)})`,
      ]),
    )
  const tags = document.tags.map((tag) => ({ ...tag, of: places.filter((one) => one.operation.tags[0] === tag.name) }))
  const other = tags.filter(({ of }) => of.length < 2).flatMap(({ of }) => of)
  const parts = [
    ...tags.filter(({ of }) => of.length > 1),
    ...(other.length === 0 ? [] : [{ name: 'other requests', description: 'Requests that stand alone.', of: other }]),
  ]
  let overview = `# ${name}: all requests\n\n${document.info.description.replace(/</g, '&lt;')}\n`
  for (const { name: part, description, of } of parts) {
    const file = `${slug(part)}.md`
    const sections = of.map((one) => section(one, document))
    pages.set(file, `# ${name}: ${part}\n\n${description}\n\n${list(of, '')}\n${sections.join('\n\n')}\n`)
    overview += `\n## ${part}\n\n${list(of, file)}`
  }
  const schemas = Object.entries(document.components.schemas).map(
    ([title, schema]) =>
      `## ${title}\n\n${schema.description ?? ''}\n\n` +
      (table(['field', 'type', 'meaning'], fields(schema)) || `${typeOf(schema)}\n`),
  )
  pages.set('schemas.md', `# ${name}: schemas\n\nWhat bodies and answers are made of.\n\n${schemas.join('\n')}`)
  pages.set('index.md', overview)
  return pages
}
