/** A service that answers every request with one 2 KB status, in its own process so that its work is not measured. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const port = (internal: number, external: number) => ({
  external,
  internal,
  protocol: 'UDP',
  name: `game-${internal}`,
  tls_upgrade: false,
  link: `d2f1c0a9b8e7.pr.example.net:${external}`,
  proxy: external,
})
const session = (n: number) => ({
  session_id: `session-${n}-6d1e0f7c`,
  status: 'Status.READY',
  ready: true,
  linked: true,
  kind: 'MATCH',
  user_count: '4',
})
const status = {
  request_id: 'd2f1c0a9b8e7',
  fqdn: 'd2f1c0a9b8e7.pr.example.net',
  app_name: 'arena',
  app_version: '2026.08.05-build-1841',
  current_status: 'Status.READY',
  last_status: 'Status.DEPLOYING',
  running: true,
  whitelisting_active: false,
  start_time: '2026-08-05 12:30:45.123456',
  removal_time: null,
  elapsed_time: 73,
  error: false,
  error_detail: null,
  ports: { game: port(7777, 31432), query: port(27015, 31433), voice: port(7778, 31434) },
  public_ip: '203.0.113.17',
  sessions: [session(1), session(2), session(3)],
  location: {
    city: 'Frankfurt am Main',
    country: 'Germany',
    continent: 'Europe',
    administrative_division: 'Hesse',
    timezone: 'Europe/Berlin',
    latitude: 50.1109,
    longitude: 8.6821,
  },
  tags: ['match-3fa9c1', 'matchmaker-eu', 'ranked'],
  sockets: '16',
  sockets_usage: '12',
  command: null,
  arguments: `-log ${'-opt=value '.repeat(44)}`,
  max_duration: 60,
}
const body = Buffer.from(JSON.stringify(status))

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port, bytes: body.length }),
)
process.on('disconnect', () => process.exit())
