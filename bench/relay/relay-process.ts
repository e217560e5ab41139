/** The measured program: the emulator with sessions that carry packets, in a process of its own. */
import { createEmulator } from '@muster/emulator'
import type { RelaySessionInfo, RelaySpent } from './messages.js'

const SESSIONS = 8
const USERS = 4

const emulator = createEmulator({
  limits: false,
  relays: { readyMs: 0 },
  // Limits that are never reached, but are checked for every packet.
  relayData: { userPacketsPerSecond: 1e6, sessionPacketsPerSecond: 1e6 },
})

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const request = new Request(`http://emulator.invalid${path}`, {
    method,
    headers: { authorization: 'token dev', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await emulator.fetch(request)).json()
}

interface Ready {
  readonly session_id: string
  readonly ready: boolean
  readonly authorization_token: number
  readonly session_users: readonly { readonly authorization_token: number }[]
  readonly relay: {
    readonly ports: { readonly server: { readonly port: number }; readonly client: { readonly port: number } }
  }
}

async function openSession(): Promise<RelaySessionInfo> {
  const users = Array.from({ length: USERS }, (_, user) => ({ ip: `198.51.100.${user + 1}` }))
  const { session_id } = (await call('POST', '/v1/relays/sessions', { users })) as Ready
  for (;;) {
    const session = (await call('GET', `/v1/relays/sessions/${session_id}`)) as Ready
    if (!session.ready) {
      await new Promise((resolve) => setImmediate(resolve))
      continue
    }
    return {
      token: session.authorization_token,
      userTokens: session.session_users.map(({ authorization_token }) => authorization_token),
      serverPort: session.relay.ports.server.port,
      clientPort: session.relay.ports.client.port,
    }
  }
}

const sessions = await Promise.all(Array.from({ length: SESSIONS }, openSession))
process.send?.(sessions)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const spent: RelaySpent = { cpuMicroseconds: user + system }
  process.send?.(spent)
})
process.on('disconnect', () => process.exit())
