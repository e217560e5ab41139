// pure: the deployment variables that a process on this machine gets

/**
 * Variables that tell a program, its loader or its language runtime what else to load or run, and where programs and
 * certificates are. In a container a deployment may set them; on this machine, anyone who may deploy could run code of
 * their own.
 */
const withheldNames: ReadonlySet<string> = new Set(
  [
    // Programs, shells and the C library.
    'PATH PATHEXT COMSPEC SYSTEMROOT WINDIR SHELL HOME USERPROFILE TMPDIR TEMP TMP IFS ENV BASH_ENV BASHOPTS SHELLOPTS',
    'PS4 PROMPT_COMMAND CDPATH GLOBIGNORE EDITOR VISUAL PAGER BROWSER',
    'GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES HOSTALIASES RES_OPTIONS LOCALDOMAIN GETCONF_DIR',
    // Language runtimes.
    'CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME GODEBUG GOTRACEBACK RUBYOPT RUBYLIB',
    'PHPRC PHP_INI_SCAN_DIR LUA_INIT LUA_PATH LUA_CPATH R_PROFILE ERL_FLAGS ERL_AFLAGS',
    // Trusted certificates, and proxies for outgoing traffic.
    'SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSLKEYLOGFILE CURL_CA_BUNDLE',
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
  ].flatMap((line) => line.split(' ')),
)
const withheldPrefixes = [
  'LD_ DYLD_ MALLOC_ BASH_FUNC_ GIT_ NODE_ NPM_ BUN_ DENO_ PYTHON PERL',
  'DOTNET_ CORECLR_ COR_ COMPLUS_ GEM_ BUNDLE_ MONO_',
].flatMap((line) => line.split(' '))

/** Exceptions from the withheld prefixes: NODE_ENV only names a mode. */
const harmless: ReadonlySet<string> = new Set(['NODE_ENV'])

export interface ProcessVariables {
  readonly passed: Readonly<Record<string, string>>
  /** The withheld names, as the deployment spells them. */
  readonly withheld: readonly string[]
}

/**
 * Splits a deployment's variables into those passed on and those withheld.
 * @param allowed names that are passed on although they would be withheld.
 */
export function processVariables(
  variables: Readonly<Record<string, string>>,
  allowed: ReadonlySet<string> = new Set(),
): ProcessVariables {
  const entries = Object.entries(variables)
  const isPassed = (name: string) => allowed.has(name) || !isWithheld(name)
  return {
    passed: Object.fromEntries(entries.filter(([name]) => isPassed(name))),
    withheld: entries.flatMap(([name]) => (isPassed(name) ? [] : [name])),
  }
}

/**
 * Whether a variable is withheld. Letter case is ignored, because Windows and some readers of proxy variables ignore
 * it.
 */
function isWithheld(name: string): boolean {
  const upper = name.toUpperCase()
  if (harmless.has(upper)) return false
  return withheldNames.has(upper) || withheldPrefixes.some((prefix) => upper.startsWith(prefix))
}
