import { readFileSync } from 'node:fs'
import { type Comments, commentsIn, type FieldComment } from '../specification/comments.js'

export type Json = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, FieldComment>>

const packages = new URL('../../packages/', import.meta.url)

const SOURCES = [
  'matchmaker/src/queues/queue.ts',
  'matchmaker/src/queues/cooldown-terms.ts',
  'matchmaker/src/queues/rule-parts/rule-base.ts',
  'matchmaker/src/queues/rule-parts/relaxing.ts',
  'matchmaker/src/queues/rule-parts/teams.ts',
  'matchmaker/src/queues/rule-parts/values.ts',
  'matchmaker/src/queues/rules/distance.ts',
  'matchmaker/src/queues/rules/latency.ts',
  'matchmaker/src/queues/rules/difference.ts',
  'matchmaker/src/queues/rules/equal.ts',
  'matchmaker/src/queues/rules/overlap.ts',
  'matchmaker/src/queues/rules/require.ts',
  'matchmaker/src/queues/rules/accepts.ts',
  'matchmaker/src/queues/rules/avoid.ts',
  'matchmaker/src/queues/rules/compare.ts',
  'matchmaker/src/queues/rules/roles.ts',
  'matchmaker/src/queues/rules/custom.ts',
  'matchmaker/src/queues/rules/predicted-win.ts',
  'matchmaker/src/queues/rules/balance.ts',
  'matchmaker/src/queues/rules/definition.ts',
  'hosting/src/records/deploy.ts',
  'hosting/src/pools/pool-definition.ts',
  'hosting/src/pools/enrolment.ts',
  'hosting/src/browser/browser-definition.ts',
]

/**
 * The doc comments of the types that define a queue. The union of all rules is left out, because it refers to itself.
 */
const comments: Comments = commentsIn(
  SOURCES.map((path) =>
    readFileSync(new URL(path, packages), 'utf8').replace(/^export type RuleDefinition =(?:\n .*)*/m, ''),
  ),
)

const fieldsOf = (type: string): Fields => {
  const comment = comments[type]
  if (comment === undefined) throw new Error(`no ${type} in the sources`)
  return comment.fields
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The comments that all relaxing limits share. */
const OF_LIMITS: Fields = {
  ...fieldsOf('RelaxationStep'),
  ...fieldsOf('LinearRelaxation'),
  ...fieldsOf('LimitBounds'),
}

const OF_KIND = { description: 'What the rule is about.' }
const OF_PROBES: Fields = { ...fieldsOf('PortProbeDefinition'), ...fieldsOf('RegistrationDefinition') }

/** Comments of pools. Their type omits a field of `deploy`. */
const OF_POOLS: Fields = {
  ...fieldsOf('PoolDefinition'),
  deploy: { ...fieldsOf('PoolDefinition')['deploy'], fields: fieldsOf('DeployDefinition') } as FieldComment,
}

/** Comments of nested fields whose types `comments` cannot read. */
const WITHIN: Readonly<Record<string, Fields>> = {
  probe: {
    ...OF_PROBES,
    kind: {
      description:
        'How Muster checks: `tcp` connects to a port, `udp` sends a datagram to a port, and `registration` ' +
        'waits until the server registers itself.',
    },
  },
  knock: {
    kind: { description: 'By a TCP connection, or by a UDP datagram that the next report of the server must repeat.' },
    port: { description: 'Name of the port in the address that the server gives.' },
    withinMs: {
      description: 'Milliseconds of knocking, one knock a second, after which the server is gone. Default 30,000.',
    },
  },
  size: {
    min: { description: 'Players at least, which may fall while the oldest ticket of the match waits.' },
    max: { description: 'Players at most.' },
  },
  missing: {
    value: {
      description: 'The value that players without the attribute count as having.',
      fields: fieldsOf('RatingValue'),
    },
  },
  roles: {
    min: { description: 'Players who can play the role at least.' },
    max: { description: 'Players at most who can play no other role.' },
  },
}

/**
 * Returns the document with the sources' doc comments as descriptions of the fields of queues, pools and the browser.
 */
export function withQueueTexts(document: Json): Json {
  const properties = document['properties'] as Readonly<Record<string, Json>>
  const { queues = {}, pools = {}, browser = {} } = properties
  const { rule, ...others } = document['$defs'] as { readonly rule: { readonly oneOf: readonly Json[] } }
  const rules = rule.oneOf.map((kind) => {
    const name = String((kind['properties'] as { readonly kind: Json }).kind['const'])
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Rule`
    const text = comments[type]?.description
    return {
      ...described(kind, { ...fieldsOf(type), kind: OF_KIND }),
      ...(text !== undefined && { description: text }),
    }
  })
  return {
    ...document,
    properties: {
      ...properties,
      queues: { ...queues, items: described(queues['items'] as Json, fieldsOf('QueueDefinition')) },
      pools: { ...pools, items: described(pools['items'] as Json, OF_POOLS) },
      browser: described(browser, fieldsOf('BrowserDefinition')),
    },
    $defs: { rule: { ...rule, oneOf: rules }, ...others },
  }
}

/**
 * Returns a schema whose properties have these comments as descriptions, also within lists, alternatives and records.
 */
function described(schema: Json, fields: Fields, name = ''): Json {
  const inside = { ...OF_LIMITS, ...fields, ...WITHIN[name] }
  return Object.fromEntries(
    Object.entries(schema).map(([key, part]) => {
      if (key === 'properties' && isObject(part)) return [key, ofProperties(part, inside)]
      if ((key === 'items' || key === 'additionalProperties') && isObject(part))
        return [key, described(part, fields, name)]
      if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(part))
        return [key, part.map((one: unknown) => (isObject(one) ? described(one, fields, name) : one))]
      return [key, part]
    }),
  )
}

const ofProperties = (properties: Json, fields: Fields): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { description, fields: inner = {} } = fields[name] ?? {}
      const text = description === undefined ? {} : { description: inYaml(description) }
      return [name, { ...described(property as Json, inner, name), ...text }]
    }),
  )

/** Replaces names of TypeScript constants in a comment by the form in which a file writes them. */
const inYaml = (text: string) => text.replaceAll('`PARTY_SIZE`', '`$partySize`').replaceAll('Infinity', '`.inf`')
