import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { systemClock } from '@muster/core/clock'

/** The specification of a container to start. */
export interface ContainerSpec {
  readonly request_id: string
  /** The image as registry/image:tag. */
  readonly image: string
  readonly command: string | null
  readonly arguments: string | null
  /** The variables of the version and the deployment, and the injected ones. Secrets are among them. */
  readonly env: Readonly<Record<string, string>>
  /**
   * The container's ports. A local process must listen on `internal`, which equals `external` there, because all
   * processes share the machine's ports.
   */
  readonly ports: readonly ContainerPort[]
}

export interface ContainerPort {
  readonly name: string
  readonly internal: number
  readonly external: number
  readonly protocol: string
}

export interface Container {
  /** Resolves with the exit code once the container has ended, by itself or after `stop`. Never rejects. */
  readonly exited: Promise<number>
  /**
   * Asks the container to end (SIGTERM). Kills it after `graceMs` milliseconds of real time, or immediately if that is
   * 0.
   */
  stop(graceMs: number): void
  /** The container's output so far, or the last part of it. */
  logs(): string
}

/**
 * Starts a container, e.g. as a local process (see `launchProcess`). Called when a deployment reaches DEPLOYING. If
 * `launch` rejects or throws, the deployment goes to ERROR. If it returns undefined, the deployment stays simulated.
 */
export type Launch = (spec: ContainerSpec) => Container | undefined | Promise<Container | undefined>

/**
 * Names of variables that a process does not get from a deployment. They tell a program, its loader or its language
 * runtime what else to load or run, and where programs and certificates are. In a container a deployment may set them.
 * On this machine, everybody who may deploy could run arbitrary code with them.
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

/**
 * Splits a deployment's variables into those that a process gets, and the names of those that are withheld, as the
 * deployment spells them.
 * @param allowed names that are passed on although they would be withheld.
 */
export function processVariables(
  variables: Readonly<Record<string, string>>,
  allowed: ReadonlySet<string> = new Set(),
) {
  const entries = Object.entries(variables)
  const isPassed = (name: string) => allowed.has(name) || !isWithheld(name)
  return {
    passed: Object.fromEntries(entries.filter(([name]) => isPassed(name))),
    withheld: entries.flatMap(([name]) => (isPassed(name) ? [] : [name])),
  }
}

/**
 * Returns true if a variable is withheld. Letter case is ignored, because Windows ignores it, and so do some readers of
 * proxy variables.
 */
function isWithheld(name: string): boolean {
  const upper = name.toUpperCase()
  if (harmless.has(upper)) return false
  return withheldNames.has(upper) || withheldPrefixes.some((prefix) => upper.startsWith(prefix))
}

export interface LaunchProcessOptions {
  /** The working directory of the process. Default: this process's. */
  readonly cwd?: string | undefined
  /**
   * Environment variables of the process. Variables of the deployment take precedence. Default: the environment of this
   * process.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Names of deployment variables that are passed on although they decide what code runs or where programs are found,
   * e.g. `['NODE_OPTIONS']`. Others of this kind, such as NODE_OPTIONS, LD_* and PATH, are withheld, and the process's
   * output names them. Default: none.
   */
  readonly passVariables?: readonly string[] | undefined
  /** Maximum number of characters of output that are kept, the latest ones; at least 1. Default 65,536. */
  readonly outputLimit?: number | undefined
  /** Called with each line of output. */
  readonly onLine?: ((line: string, spec: ContainerSpec) => void) | undefined
}

/** Milliseconds for which output is still read after the process has ended. */
const LAST_WORDS_MS = 1000

/**
 * Creates the emulator's `launch` option: each deployment runs as a process on this machine. The process gets the
 * deployment's variables, except those that decide what code runs (see `passVariables`). It must listen on the ports in
 * SERVICE_PORT_{NAME}_INTERNAL. A stop sends SIGTERM, then SIGKILL once the grace period is over. As in a container,
 * the process's children end with it (not on Windows). The version's image, command and arguments are ignored, because
 * they are for real containers. If this process exits without closing the emulator, the remaining processes are killed.
 * If it is killed itself (SIGKILL), they run on.
 *
 * @example createEmulator({ launch: launchProcess('node', ['server.js']) })
 * @throws RangeError for an invalid outputLimit.
 */
export function launchProcess(
  command: string,
  args: readonly string[] = [],
  options: LaunchProcessOptions = {},
): Launch {
  const { cwd, env = process.env, outputLimit = 65_536, onLine } = options
  const allowed = new Set(options.passVariables)
  if (!Number.isInteger(outputLimit) || outputLimit < 1) {
    throw new RangeError(`outputLimit must be an integer of at least 1, not ${outputLimit}`)
  }
  const guard = createExitGuard()

  return async (spec) => {
    const { passed, withheld } = processVariables(spec.env, allowed)
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, ...passed },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The process gets its own process group, so that a signal reaches its children too.
      detached: !onWindows,
      windowsHide: true,
    })
    const output = createTail(outputLimit)
    if (withheld.length > 0)
      output.add(`emulator: withheld from this local process: ${withheld.join(', ')} (see passVariables)\n`)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', output.add)
      if (onLine !== undefined) createInterface(stream).on('line', (line) => onLine(line, spec))
    }
    const ended = new AbortController()
    const exited = exitOf(child)
    void exited.then(() => ended.abort())
    guard(child)
    // `once` rejects if the command does not exist.
    await once(child, 'spawn')

    return {
      exited,
      logs: output.text,
      stop: (graceMs) => {
        if (ended.signal.aborted) return
        if (graceMs <= 0) return signal(child, 'SIGKILL')
        signal(child, 'SIGTERM')
        void systemClock.sleep(graceMs, ended.signal).then(
          () => signal(child, 'SIGKILL'),
          () => {},
        )
      },
    }
  }
}

const onWindows = process.platform === 'win32'

/** Sends a signal to the process and its children. */
function signal(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (onWindows || child.pid === undefined) child.kill(name)
    else process.kill(-child.pid, name)
  } catch {
    // The process and its children have already ended.
  }
}

/** Resolves with the exit code. For a process that a signal ended, it is 128 plus the signal's number, as in shells. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    // Without a listener, a failing kill would end this process. The caller of `spawn` handles a failing spawn.
    child.on('error', () => {})
    child.once('exit', (code, by) => {
      signal(child, 'SIGKILL')
      const exitCode = code ?? 128 + (by === null ? 0 : constants.signals[by])
      const over = new AbortController()
      const done = () => resolve(exitCode)
      child.once('close', () => over.abort())
      void systemClock.sleep(LAST_WORDS_MS, over.signal).then(done, done)
    })
  })

/** Creates a buffer that keeps the last `limit` characters. */
function createTail(limit: number) {
  let parts: string[] = []
  let length = 0
  const text = () => parts.join('').slice(-limit)
  return {
    text,
    add: (part: string) => {
      parts.push(part)
      length += part.length
      // Chunks are joined only once they hold twice the limit, so that many small chunks stay cheap.
      if (length < 2 * limit) return
      parts = [text()]
      length = limit
    },
  }
}

/** Creates a guard that kills the remaining processes when this process exits. */
function createExitGuard() {
  const children = new Set<ChildProcess>()
  const killAll = () => {
    for (const child of children) signal(child, 'SIGKILL')
  }
  return (child: ChildProcess) => {
    if (children.size === 0) process.on('exit', killAll)
    children.add(child)
    const gone = () => {
      children.delete(child)
      if (children.size === 0) process.off('exit', killAll)
    }
    child.once('exit', gone)
    child.once('error', gone)
  }
}
