import type { Socket } from 'node:net'

/** One listener per socket, because one socket can carry any number of pipelined requests. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `ended` when the socket closes, or at once if it is closed already. node:http reports the close only to the
 * pipelined response whose turn it is; the others would wait for ever.
 * @returns a function that stops listening.
 */
export function onSocketEnd(socket: Socket, ended: () => void): () => void {
  if (socket.destroyed) {
    ended()
    return () => {}
  }
  const all = waiting.get(socket) ?? listen(socket)
  all.add(ended)
  return () => void all.delete(ended)
}

function listen(socket: Socket): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(socket, all)
  socket.once('close', () => {
    for (const ended of all) ended()
    all.clear()
  })
  return all
}
