import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Kills a child process when this process ends, even by SIGKILL. A shell waits for the end of a pipe that only this
 * process holds open.
 */
export function endsWithThisProcess(child: ChildProcess): void {
  const guard = spawn('sh', ['-c', `read -r _; kill -9 ${child.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] })
  guard.once('error', () => {}) // without a shell, the child may be left
  guard.unref()
  ;(guard.stdin as typeof guard.stdin & { unref?: () => void })?.unref?.()
  child.once('exit', () => guard.kill('SIGKILL'))
}
