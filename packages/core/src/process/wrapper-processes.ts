// pure: which ancestors of this process only wrap it

/** An ancestor of this process. */
export interface Ancestor {
  readonly pid: number
  /** The process's program and arguments, separated by spaces. */
  readonly command: string
}

const NAMES = 'npm|npx|pnpm|pnpx|pn|yarn|yarnpkg|bun|bunx|corepack'
const packageManager = new RegExp(
  String.raw`^(\S*/)?(node( -\S+)* (\S*/)?(${NAMES})(-cli)?(\.[cm]?js)?|(${NAMES}))( |$)`,
)
/** The shell that package managers run scripts with: `sh -c 'muster-emulator'`. */
const shellOfScript = /^(\S*\/)?(busybox )?(sh|dash|ash|bash|zsh) -c /

/**
 * The ids of `npx`, `pnpm` and the like and their shells, up to the outermost. A signal to any of these is meant for
 * this process: wrappers do not always forward signals, and cannot forward SIGKILL. A shell above the wrappers is a
 * user's session, which may end before this process and is not included.
 * @param ancestors the nearest first.
 */
export function wrapperProcesses(ancestors: readonly Ancestor[]): readonly number[] {
  const other = ancestors.findIndex(({ command }) => !packageManager.test(command) && !shellOfScript.test(command))
  const candidates = other === -1 ? ancestors : ancestors.slice(0, other)
  const outermost = candidates.findLastIndex(({ command }) => packageManager.test(command))
  return candidates.slice(0, outermost + 1).map(({ pid }) => pid)
}
