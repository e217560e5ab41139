// pure: masks secrets in the variables and texts that the page shows

/** The text shown instead of a secret. */
export const MASK = '••••••'

/** Matches names of variables that are masked even if they are not marked as secret. */
const secretName = /token|secret|passw|credential|api_?key|private_?key|auth/i
/** Minimum number of characters of a value that is masked in texts. Shorter ones occur everywhere by chance. */
const SHORTEST_SECRET = 4
/** Minimum number of characters of a line in a multi-line secret that is masked. Shorter lines may be delimiters. */
const SHORTEST_LINE = 8

const isSecret = (name: string, hidden: ReadonlySet<string>) => hidden.has(name) || secretName.test(name)

/** Returns the variables that the page shows, sorted by name. Secret variables have no value. */
export const shownVariables = (environment: Readonly<Record<string, string>>, hidden: ReadonlySet<string>) =>
  Object.entries(environment)
    .map(([name, value]) => ({ name, value: isSecret(name, hidden) ? undefined : value }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** Returns a container's output with secret values masked, both raw and JSON-escaped. */
export function withoutSecrets(
  text: string,
  environment: Readonly<Record<string, string>>,
  hidden: ReadonlySet<string>,
): string {
  const secrets = Object.entries(environment).flatMap(([name, value]) => (isSecret(name, hidden) ? formsOf(value) : []))
  // The longest secret is replaced first, because it may contain another secret.
  return [...new Set(secrets)]
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

function formsOf(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split('\n').filter((line) => line.length >= SHORTEST_LINE) : []
  return [value, JSON.stringify(value).slice(1, -1), ...lines].filter((form) => form.length >= SHORTEST_SECRET)
}
