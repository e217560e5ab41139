// pure: which of the processes above this one only wrap it

/** A process above this one. */
export interface Ancestor {
  readonly pid: number
  /** Its program and arguments, with spaces between. */
  readonly command: string
}

const NAMES = 'npm|npx|pnpm|pnpx|pn|yarn|yarnpkg|bun|bunx|corepack'
const packageManager = new RegExp(
  String.raw`^(\S*/)?(node( -\S+)* (\S*/)?(${NAMES})(-cli)?(\.[cm]?js)?|(${NAMES}))( |$)`,
)
/** As package managers run scripts: `sh -c 'muster-emulator'`. */
const shellOfScript = /^(\S*\/)?(busybox )?(sh|dash|ash|bash|zsh) -c /

/**
 * The ids of `npx`, `pnpm` and the like and of their shells, up to the outermost. Whoever ends one of these means this
 * process: they do not always pass a signal on, and never SIGKILL. A shell above them is somebody's session, which may
 * end before us.
 * @param ancestors the nearest first.
 */
export function wrapperProcesses(ancestors: readonly Ancestor[]): readonly number[] {
  const other = ancestors.findIndex(({ command }) => !packageManager.test(command) && !shellOfScript.test(command))
  const candidates = other === -1 ? ancestors : ancestors.slice(0, other)
  const outermost = candidates.findLastIndex(({ command }) => packageManager.test(command))
  return candidates.slice(0, outermost + 1).map(({ pid }) => pid)
}
