import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Opens a server that replies to each command with the result of `answer`, in raw RESP; undefined for no reply. */
export async function openFakeRedis(answer: (words: readonly string[]) => string | undefined) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let text = ''
    socket.on('data', (data) => {
      text += String(data)
      for (let command = take(text); command !== undefined; command = take(text)) {
        text = command.rest
        const reply = answer(command.words)
        if (reply !== undefined) socket.write(reply)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the first complete command, an array of strings, and the rest of the input. */
function take(text: string): { readonly words: readonly string[]; readonly rest: string } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return undefined
  const words: string[] = []
  let at = head[0].length
  while (words.length < Number(head[1])) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(at))
    if (length === null) return undefined
    const from = at + length[0].length
    const to = from + Number(length[1])
    if (text.length < to + 2) return undefined
    words.push(text.slice(from, to))
    at = to + 2
  }
  return { words, rest: text.slice(at) }
}
