/** The configuration of the measured program, and the tokens of its players. */
import { createHmac } from 'node:crypto'

/** Shared with the program, which reads it from its environment; a secret of this benchmark alone. */
const SECRET = 'secret-of-the-benchmark-shared-with-nobody'

export interface Setting {
  /** Of the emulator. */
  readonly serviceUrl: string
  /** Where waiting tickets outlive the program; undefined for memory. */
  readonly folder?: string | undefined
  /** Default: any that is free. */
  readonly port?: number | undefined
}

/** A program as a studio runs it: players have tokens, and their skill is a claim of these. */
export const configuration = ({ serviceUrl, folder, port = 0 }: Setting): string => `
name: bench
listen: { host: 127.0.0.1, port: ${port} }
service:
  url: ${serviceUrl}
  token: { env: SERVICE_TOKEN }
store: ${folder === undefined ? 'memory' : `{ folder: ${JSON.stringify(folder)} }`}
auth:
  jwt:
    secret: { env: JWT_SECRET }
    claims: { id: sub, attributes: { skill: mmr } }
# All players of the benchmark come from one address, as they would from one proxy.
addresses: { trustedProxies: [127.0.0.0/8] }
limits: { perAddress: unlimited }
# Tickets wait, so that only their creates are measured.
spending: { maxServers: 2 }
telemetry: { log: { level: warn } }
queues:
  - name: duel
    matchSize: 2
    rules:
      - kind: difference
        attribute: skill
        max: [{ afterMs: 0, value: 50 }, { afterMs: 10000, value: 200 }]
    playerMayState: [mode, maps]
    expireAfterMs: 3600000
    deploy: { application: game, version: '1' }
`

/** What the program finds in its environment. */
export const environment = { SERVICE_TOKEN: 'dev', JWT_SECRET: SECRET }

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encoded({ alg: 'HS256', typ: 'JWT' })

/** A player's token, as a studio would sign it: an id, a skill, and an hour. */
export function tokenOf(player: number, now: number): string {
  const seconds = Math.floor(now / 1000)
  const claims = { sub: `player-${player}`, mmr: 1000 + (player % 1000), iat: seconds, exp: seconds + 3600 }
  const signed = `${HEADER}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
}
