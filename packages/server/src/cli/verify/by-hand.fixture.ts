/** A game server without the library: the twenty lines of docs/servers.md, and what `muster verify-server` requires. */
export type Fault =
  | 'none'
  | 'admits-forged-tokens'
  | 'never-ends-a-match'
  | 'ignores-drain'
  | 'sends-invalid-reports'
  | 'ignores-the-verifier'
  | 'admits-everyone'
  | 'lets-none-in'
  | 'short'

export const byHand = (fault: Fault): string => `
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
const fault = '${fault}'
const { MUSTER_URL: url, MUSTER_SERVER_TOKEN: token, MUSTER_VERIFY_URL: verifyUrl } = process.env
const call = async (method, path, body) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify({ instance: 'one', ...body }) })
  return answer.ok ? answer.json() : { status: answer.status }
}
const matches = new Map()
const used = new Map()
let seq = 0
let draining = false
let registered

const claimsOf = (joinToken) => {
  const [header, payload, mac] = joinToken.split('.')
  const wanted = createHmac('sha256', Buffer.from(registered.key, 'base64url')).update(header + '.' + payload)
  if (fault !== 'admits-forged-tokens' && wanted.digest('base64url') !== mac) throw new Error('forged')
  const claims = JSON.parse(Buffer.from(payload, 'base64url'))
  if (claims.aud !== registered.id || claims.exp * 1000 < Date.now()) throw new Error('void')
  if ((matches.get(claims.mid)?.status ?? 'over') === 'over') throw new Error('other match')
  return claims
}
const commands = {
  admit: ({ token: joinToken }) => {
    if (fault === 'lets-none-in') throw new Error('full')
    // Runs before the second player, after the first was reported.
    for (const one of matches.values())
      if (fault === 'short' && Object.keys(one.players).length > 0) one.status = 'over'
    const { sub, mid, sid } = claimsOf(joinToken)
    const { players } = matches.get(mid)
    if (players[sub] !== 'away' && used.has(sid)) throw new Error('used')
    used.set(sid, true)
    players[sub] = 'in'
    return { player: sub }
  },
  leave: ({ player, mayReturnMs }) => {
    for (const { players } of matches.values()) if (players[player]) players[player] = mayReturnMs > 0 ? 'away' : 'left'
  },
  over: ({ match }) => {
    if (fault !== 'never-ends-a-match') matches.get(match).status = 'over'
  },
}
async function obeyVerifier() {
  for (;;) {
    const answer = await fetch(verifyUrl).catch(() => undefined)
    if (answer?.status !== 200) continue
    const command = await answer.json()
    let result
    try {
      result = { ok: true, ...commands[command.do](command) }
    } catch (error) {
      result = { ok: false, why: error.message }
    }
    await fetch(verifyUrl, { method: 'POST', body: JSON.stringify({ id: command.id, ...result }) }).catch(() => {})
  }
}
if (fault !== 'ignores-the-verifier' && verifyUrl !== undefined) void obeyVerifier()
// The game itself: a client sends its token, and stays. A match is over once a player has returned.
const joins = new Map()
createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (data) => {
    const joinToken = String(data).trim()
    const claims = JSON.parse(Buffer.from(joinToken.split('.')[1], 'base64url'))
    try {
      commands.admit({ token: joinToken })
    } catch {
      if (fault !== 'admits-everyone') return socket.end('no\\n')
    }
    socket.write('in\\n')
    socket.on('close', () => commands.leave({ player: claims.sub, mayReturnMs: claims.sub === 'dan' ? 0 : 60000 }))
    joins.set(claims.mid, (joins.get(claims.mid) ?? 0) + 1)
    if (joins.get(claims.mid) !== 3) return
    setTimeout(() => matches.has(claims.mid) && commands.over({ match: claims.mid }), 300)
  })
}).listen(Number(process.env.SERVICE_PORT_GAME_INTERNAL), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))

const registration = { build: '1.0', deployment: process.env.SERVICE_REQUEST_ID }
let known = registered = await call('POST', '/servers', registration)
for (;;) {
  for (const { id } of known.matches ?? []) if (!matches.has(id)) matches.set(id, { id, status: 'open', players: {} })
  for (const id of matches.keys())
    if (known.matches && !known.matches.some((match) => match.id === id)) matches.delete(id)
  if (fault !== 'ignores-drain' && (known.want === 'stop' || known.status === 410)) break
  const state = { seq: (seq += 1), matches: [...matches.values()] }
  if (fault === 'sends-invalid-reports') state.matches = state.matches.map((match) => ({ ...match, mood: 'merry' }))
  known = await call('PUT', '/servers/me', state).catch(() => ({}))
  if (known.status === 409) known = await call('POST', '/servers', registration).catch(() => ({}))
  await new Promise((resolve) => setTimeout(resolve, known.version === undefined ? 500 : 150))
}
process.exit(0)
`

/** A client of the game above. It prints `in` once the server has admitted it. */
export const BOT = `
import { connect } from 'node:net'
const { MUSTER_HOST, MUSTER_PORT_GAME, MUSTER_JOIN_TOKEN } = process.env
const socket = connect(Number(MUSTER_PORT_GAME), '127.0.0.1', () => socket.write(MUSTER_JOIN_TOKEN + '\\n'))
socket.on('data', (data) => console.log(String(data).trim()))
socket.on('close', () => process.exit(MUSTER_HOST === '' ? 1 : 0))
`
