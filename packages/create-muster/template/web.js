// Serves the page and signs players in. Everybody who enters a name becomes that player: replace this by the login of
// your game.
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const { MUSTER_URL, MUSTER_JWT_SECRET: secret, PORT = 3000, ALLOWED_HOSTS = '' } = process.env
/**
 * True if Muster's address is missing. This program then runs under `muster dev`, and reads the address from its
 * output.
 */
const isDev = MUSTER_URL === undefined
if (!isDev && secret === undefined) throw new Error('MUSTER_JWT_SECRET: must be the secret of muster.yaml')
let muster = { url: MUSTER_URL, token: undefined }

function tokenOf(player) {
  if (isDev) return `${muster.token}:${player}`
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { sub: player, exp: Math.floor(Date.now() / 1000) + 3600 }
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

// The allowed names protect against DNS rebinding: a page of another site could let its own name resolve to this
// machine, and then read responses as its own.
/** The names of this machine, and those in ALLOWED_HOSTS, which are separated by commas. */
const hosts = new Set(['localhost', '127.0.0.1', '[::1]', ...ALLOWED_HOSTS.toLowerCase().split(',').filter(Boolean)])
const isAllowed = (host = '') => hosts.has(host.toLowerCase().replace(/:\d+$/, ''))

const files = {
  '/': ['text/html', './public/index.html'],
  '/page.js': ['text/javascript', './public/page.js'],
  '/muster.js': ['text/javascript', import.meta.resolve('@muster/client/muster.global.js')],
}

const server = createServer(async (request, response) => {
  const [path, query] = request.url.split('?')
  const answer = (status, type, body) =>
    response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body)
  const name = new URLSearchParams(query).get('name') ?? ''
  const [type, file] = files[path] ?? []
  // Checked because the response of /session contains a token that is valid for every player of `muster dev`.
  if (isDev && !isAllowed(request.headers.host)) answer(421, 'text/plain', 'Unknown host. List it in ALLOWED_HOSTS.')
  else if (file !== undefined) answer(200, type, await readFile(new URL(file, import.meta.url)))
  else if (path !== '/session') answer(404, 'text/plain', 'Not here.')
  else if (!/^[\w-]{1,20}$/.test(name)) answer(400, 'text/plain', 'A name has 1 to 20 letters and digits.')
  else answer(200, 'application/json', JSON.stringify({ url: muster.url, token: tokenOf(name) }))
})

function serve() {
  // If another program uses the port of a developer's machine, any free port is used.
  if (isDev) server.once('error', () => server.listen(0, 'localhost'))
  server.once('listening', () => console.log(`\n  Play      http://localhost:${server.address().port}\n`))
  server.listen(Number(PORT), isDev ? 'localhost' : undefined)
}

if (isDev) {
  // Ctrl-C ends Muster first. This program ends after it, when Muster's output ends.
  process.on('SIGINT', () => {})
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(line)
    const [, url = muster.url] = /^ +API +(http:\S+)/.exec(line) ?? []
    const [, token = muster.token] = /"Bearer ([^":]+):ann"/.exec(line) ?? []
    if (muster.token === undefined && token !== undefined) serve()
    muster = { url, token }
  }
  process.exit(muster.token === undefined ? 1 : 0)
} else serve()
