/** The configuration of the measured program, and the tokens of its players. */
import { createHmac } from 'node:crypto'

/** A secret that only this benchmark uses. The measured program reads it from its environment. */
const SECRET = 'secret-of-the-benchmark-shared-with-nobody'

export interface Setting {
  /** URL of the emulator. */
  readonly serviceUrl: string
  /** Folder in which tickets outlive the program; undefined for memory. */
  readonly folder?: string | undefined
  /** Port of the program. Default: any free port. */
  readonly port?: number | undefined
}

/**
 * Returns the configuration of a program as a studio would run it: players have tokens, and the skill is a claim in
 * them.
 */
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

/** The environment variables of the program. */
export const environment = { SERVICE_TOKEN: 'dev', JWT_SECRET: SECRET }

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encoded({ alg: 'HS256', typ: 'JWT' })

/** Returns a player's token as a studio would sign it. It has an id and a skill, and is valid for an hour. */
export function tokenOf(player: number, now: number): string {
  const seconds = Math.floor(now / 1000)
  const claims = { sub: `player-${player}`, mmr: 1000 + (player % 1000), iat: seconds, exp: seconds + 3600 }
  const signed = `${HEADER}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
}
