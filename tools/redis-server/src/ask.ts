import { createConnection } from 'node:net'

/**
 * Sends a command on an own connection. Its words must not need quotes. Resolves with the first part of the raw reply.
 */
export function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.setTimeout(5000, () => socket.destroy(new Error('no answer within 5 s')))
    socket.once('error', reject)
    socket.once('data', (reply) => {
      socket.destroy()
      resolve(String(reply))
    })
    socket.once('close', () => reject(new Error('closed without an answer')))
    socket.write(`${command}\r\n`)
  })
}
