import { createServer, type AddressInfo } from 'node:net'

/** The port if it is free on this machine, or else any free one; likewise for 0. */
export async function freePort(wanted: number): Promise<number> {
  try {
    return await listened(wanted)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    return listened(0)
  }
}

const listened = (wanted: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
