import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The next message of a process. @throws Error when it ends instead. */
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

/** It ends by itself then, if it has not already. */
export function letGo(child: ChildProcess): void {
  if (child.connected) child.disconnect()
}
