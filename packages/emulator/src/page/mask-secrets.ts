// pure: what the page may show of variables and of texts that may quote them

/** Stands where a secret was. */
export const MASK = '••••••'

/** Nobody has said that it is a secret, but its name does. */
const secretName = /token|secret|passw|credential|api_?key|private_?key|auth/i
/** Shorter values occur by chance everywhere. */
const SHORTEST_SECRET = 4
/** Of a secret of many lines, each line that is not a mere delimiter. */
const SHORTEST_LINE = 8

export interface ShownVariable {
  readonly name: string
  /** Undefined for a secret. */
  readonly value: string | undefined
}

const isSecret = (name: string, hidden: ReadonlySet<string>) => hidden.has(name) || secretName.test(name)

/** By name. */
export const shownVariables = (
  environment: Readonly<Record<string, string>>,
  hidden: ReadonlySet<string>,
): readonly ShownVariable[] =>
  Object.entries(environment)
    .map(([name, value]) => ({ name, value: isSecret(name, hidden) ? undefined : value }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** What a container wrote, without the values that are not shown: as they are, and as JSON has them. */
export function withoutSecrets(
  text: string,
  environment: Readonly<Record<string, string>>,
  hidden: ReadonlySet<string>,
): string {
  const secrets = Object.entries(environment).flatMap(([name, value]) => (isSecret(name, hidden) ? formsOf(value) : []))
  // The longest first: one may be a part of another.
  return [...new Set(secrets)]
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

function formsOf(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split('\n').filter((line) => line.length >= SHORTEST_LINE) : []
  return [value, JSON.stringify(value).slice(1, -1), ...lines].filter((form) => form.length >= SHORTEST_SECRET)
}
