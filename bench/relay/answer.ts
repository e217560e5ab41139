import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Resolves with the next message of a process. @throws Error if the process ends before. */
export async function answer<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController()
  const onExit = () => ended.abort(new Error('a process of the benchmark has ended'))
  child.once('exit', onExit)
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [Message]
    return message
  } finally {
    child.off('exit', onExit)
  }
}

/** Disconnects a process, which then ends by itself. */
export function letGo(child: ChildProcess): void {
  if (child.connected) child.disconnect()
}
