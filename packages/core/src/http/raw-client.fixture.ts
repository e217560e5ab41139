import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { HttpHandler } from './answers.js'
import { nodeListener } from './node-listener.js'

/** Waits one turn of the event loop, in which bytes sent over loopback may arrive. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Waits by turns of the event loop until a condition holds. The condition must not need time on the clock. */
export async function untilSo(what: string, isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 50_000; turns += 1) {
    if (isSo()) return
    await turn()
  }
  throw new Error(`this did not happen within 50,000 turns of the event loop: ${what}`)
}

/** Listens on loopback until the end of the test. */
export async function listen(server: Server): Promise<{ url: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port }
}

/** Serves a handler by `nodeListener` until the end of the test. */
export const serve = (handler: HttpHandler) => listen(createServer(nodeListener(handler)))

export interface RawClient {
  readonly socket: Socket
  /** All bytes received so far. */
  readonly answered: () => string
  readonly isClosed: () => boolean
  /** Sends a string and waits until the operating system has accepted it. */
  send(text: string): Promise<void>
}

export interface RawServer {
  readonly port: number
  connect(): Promise<RawClient>
}

/** Serves a handler by node:http until the end of the test, for clients that violate HTTP. */
export async function rawServer(handler: HttpHandler): Promise<RawServer> {
  const { port } = await serve(handler)
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })

  const open = () =>
    new Promise<RawClient>((resolve, reject) => {
      let answered = ''
      let closed = false
      const socket = connect(port, '127.0.0.1', () =>
        resolve({ socket, answered: () => answered, isClosed: () => closed, send }),
      )
      const send = (text: string) => new Promise<void>((sent) => void socket.write(text, () => sent()))
      sockets.push(socket)
      socket.on('data', (data) => {
        answered += data.toString('latin1')
      })
      socket.once('close', () => {
        closed = true
      })
      socket.once('error', (error) => {
        closed = true
        reject(error)
      })
    })
  return { port, connect: open }
}
