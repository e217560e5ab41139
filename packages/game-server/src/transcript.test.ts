import { expect, test } from 'vitest'
import type { MatchResult } from './match-result.js'
import {
  duel,
  ENROL_KEY,
  inOrder,
  joinToken,
  KNOCK,
  type Line,
  ODD_IDS,
  openServer,
  orders,
  play,
  registered,
  type Server,
  settle,
  START,
  type WireTeam,
} from './transcript.fixture.js'
import { ENVIRONMENTS } from './transcript-environments.fixture.js'

/**
 * Writes the inputs and outputs of a game server as lines of JSON, which the engines' state machines replay. A line is
 * `{"session"}`, `{"at", "in"}` or `{"at", "out"}`, with epoch milliseconds. The lines contain only what is visible
 * from outside, so a machine may wake up between them. Lines of the same time are in the order of their effects, with
 * the request last. The random number is always 0.5.
 */
const PATH = new URL('../../../engines/server-transcript.jsonl', import.meta.url)

const HOUR_MS = 3_600_000
const gmt = (at: number) => new Date(at).toUTCString()

const SESSIONS: Readonly<Record<string, (server: Server) => Promise<void>>> = {
  'a match is played to its end, and the next one is refused': async (server) => {
    await play(server)
    await server.admit(joinToken('ann'))
    await settle(server)
    for (const wrong of [
      ['ann'],
      { winner: 'ann' },
      { ranking: ['ann', 'ben'] },
      { ranking: null },
      { ranking: [[7]] },
    ])
      await server.over('m7', wrong as MatchResult)
    await server.over('m7', { ranking: [['ann'], ['zoe']] })
    await server.over('m7', { ranking: [['ann'], ['ann']] })
    await server.over('m7', { ranking: [['ann'], []] })
    await server.over('m7', { data: 'ä'.repeat(4100) })
    await server.over('m7', { ranking: [['ann'], ['ben']], data: { rounds: 3 } })
    await server.over('m7')
    await server.admit(joinToken('ben'))
    await server.run(200)
    await server.answer(200, orders({ version: 9, matches: [duel('m8')] }))
    await server.begin('m8', false)
    await settle(server, { version: 10 })
    await server.run(2000)
  },
  'players come with tokens that are right, wrong and old': async (server) => {
    await play(server)
    for (const token of [
      'no token',
      'a.b',
      `${joinToken('ann')}.more`,
      joinToken('ann').replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url')),
      joinToken('ann', {}, START, new Uint8Array(32)),
      joinToken('ann').slice(0, -2),
      joinToken('ann', { aud: 'm2' }),
      joinToken('ann', {}, START - 300_000),
      joinToken('ann', { mid: 7 }),
      'x'.repeat(3000),
    ])
      await server.admit(token)
    await server.admit(joinToken('ann', { mid: 'm6' }))
    await server.run(2000)
    await server.admit(joinToken('zoe'))
    await server.run(2000)
    await server.admit(joinToken('ann'))
    await settle(server)
    await server.admit(joinToken('ann'))
    await server.admit(joinToken('ann', {}, START + 1000))
    await settle(server)
    await server.left('ann', 30_000)
    await settle(server)
    await server.admit(joinToken('ann', {}, START + 1000))
    await settle(server)
    await server.left('ann', 1000)
    await server.run(1000)
    await settle(server)
    await server.admit(joinToken('ann', {}, START + 2000))
    await server.admit(joinToken('ben', { team: 'blue', grp: 'g' }))
    await settle(server)
    await server.left('ben')
    await server.left('zoe')
    await settle(server)
    await server.admit(joinToken('ben', {}, START + 2000))
    await server.admit(joinToken('ben', { sid: 's-new' }, START + 2000))
    await settle(server)
  },
  'a player is faster than the orders, and the clock of the server is wrong': async (server) => {
    await server.start()
    await server.admit(joinToken('ann', {}, START + 600_000))
    await server.run(500)
    await server.answer(201, registered(), { date: 'Thu, 26 Nov 2026 12:10:00 GMT' })
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: 'Thu, 26 Nov 2026 12:10:01 GMT' })
    await server.begin('m7')
    await server.admit(joinToken('ben'))
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: 'Thu, 26 Nov 2026 12:00:02 GMT' })
    await server.admit(joinToken('ben'))
    await server.run(400)
  },
  'the clock of the machine is set forward and back: dates follow it until Muster tells its own, and waits do not':
    async (server) => {
      await play(server)
      await server.setClock(HOUR_MS)
      await server.admit(joinToken('ann'))
      await server.admit(joinToken('ann', {}, START + HOUR_MS))
      await settle(server)
      await server.left('ann', 30_000)
      await server.run(200)
      await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(START + 6000) })
      await server.admit(joinToken('ben', {}, START - 300_000))
      await server.admit(joinToken('ben'))
      await server.run(200)
      await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(START + 6000) })
      // The server waits 2 s for the orders about an unknown seat, and 30 s for a player who may return.
      await server.admit(joinToken('zoe'))
      await server.run(1000)
      await server.setClock(-2 * HOUR_MS)
      await server.run(999)
      await server.run(1)
      // The server gives up a held request after 20 s.
      await server.run(18_200)
      await server.run(9399)
      await server.run(1)
      await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(START + 36_200) })
      await server.setClock(HOUR_MS)
      await server.setClock(-HOUR_MS)
      await server.admit(joinToken('zoe', {}, START - 300_000))
      await server.signal()
      await server.run(24_999)
      await server.run(1)
    },
  'the clock of Muster is set forward and back: fresh tokens are good, and ended ones are refused': async (server) => {
    await play(server)
    await server.left('ben', 30_000)
    await server.run(200)
    for (const [aheadMs, who] of [
      [HOUR_MS, 'ann'],
      [-HOUR_MS, 'ben'],
    ] as const) {
      const now = server.now() + aheadMs
      await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(now) })
      await server.admit(joinToken(who, {}, now - 300_000))
      await server.admit(joinToken(who, {}, now))
      await server.run(200)
    }
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(server.now()) })
    await server.left('ann', 30_000)
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }), { date: gmt(server.now() + HOUR_MS) })
    await server.run(29_799)
    await server.run(1)
    await server.signal()
    await server.stopped()
    await server.run(2000)
  },
  'Muster does not answer, refuses, and has restarted': async (server) => {
    await server.start()
    await server.lose()
    await server.run(250)
    await server.answer(401, { detail: 'no' })
    await server.run(500)
    await server.answer(201, registered({ matches: [duel('m7')] }))
    await server.begin('m7')
    await server.run(200)
    for (const status of [503, 502, 500, 503, 503, 503]) {
      await server.answer(status)
      await server.run(8000)
    }
    await server.answer(429, { detail: 'slower' }, { 'retry-after': '40' })
    await server.run(39_999)
    await server.run(1)
    await server.answer(400, { field: 'matches.0.status', detail: 'must be one of …' })
    await server.run(7500)
    await server.answer(200)
    await server.run(7500)
    await server.over('m7')
    await server.run(200)
    await server.answer(409, { code: 'server-not-registered' })
    await server.run(200)
    await server.answer(200, registered({ matches: [duel('m7')] }))
    await settle(server, {})
    await server.healthy(false)
    await server.run(10_000)
    await server.answer(200, orders({ version: 8 }))
    await server.run(200)
  },
  'seats are open, and others come': async (server) => {
    await play(server)
    await server.seats('m7', { open: true, teams: { green: 1 } })
    await server.seats('m7', { open: true, teams: { red: 0.5 } })
    await server.seats('m7', { open: true, teams: { red: 5000 } })
    await server.seats('m7', { open: true, teams: { blue: 1 } })
    await settle(server)
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [duel('m7', 'cas')] }))
    await server.admit(joinToken('cas'))
    await settle(server, { version: 9, matches: [duel('m7', 'cas')] })
    await server.seats('m7', { open: false })
    await server.run(50)
    await server.left('cas')
    await settle(server, { version: 9, matches: [duel('m7', 'cas')] })
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [duel('m7')] }))
    await server.run(500)
    const { teams, ...match } = duel('m7')
    const [red, blue] = teams as [WireTeam, WireTeam]
    const players = [...blue.players, { id: 'cas', ticket_id: 't-new' }]
    const again = { ...match, teams: [red, { name: 'blue', players }] }
    await server.answer(200, orders({ version: 10, matches: [again] }))
    await server.left('cas')
    await server.admit(joinToken('cas', {}, START + 9000))
    await server.admit(joinToken('cas', { sid: 's-new' }, START + 9000))
    await settle(server, { version: 10, matches: [again] })
    await server.run(1000)
    await server.answer(200, orders({ version: 11 }))
    await server.run(200)
  },
  'players never come: their seats are free for others, and they come by new ones': async (server) => {
    await play(server)
    await server.left('ann')
    await settle(server)
    await server.left('ann')
    await server.admit(joinToken('ann'))
    await server.run(2000)
    await server.left('ben', 1000)
    await settle(server)
    await server.admit(joinToken('ben'))
    await settle(server)
    const { teams, ...match } = duel('m7')
    const [, blue] = teams as [WireTeam, WireTeam]
    const again = { ...match, teams: [{ name: 'red', players: [{ id: 'ann', ticket_id: 't-new' }] }, blue] }
    await server.admit(joinToken('ann', { sid: 's-new' }))
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [again] }))
    await settle(server, { version: 9, matches: [again] })
    await server.answer(200, orders({ version: 10, matches: [duel('m8')] }))
    await server.begin('m8')
    await settle(server, { version: 10, matches: [duel('m8')] })
    await server.left('ann', 500)
    await settle(server, { version: 10, matches: [duel('m8')] })
    await server.run(500)
    await server.admit(joinToken('ann', { mid: 'm8' }))
    await server.run(2000)
  },
  'Muster drains the server, and stops it': async (server) => {
    await play(server)
    await server.answer(200, orders({ version: 9, want: 'drain', reason: 'surplus', matches: [duel('m7')] }))
    await settle(server, { version: 9, want: 'drain', matches: [duel('m7')] })
    await server.over('m7')
    await settle(server, { version: 10, want: 'stop', reason: 'surplus' })
    await server.run(1000)
    await server.stopped()
  },
  'players have ids that are members of every object': async (server) => {
    const odd = {
      ...duel('m7'),
      teams: [{ name: 'red', players: ODD_IDS.map((id) => ({ id, ticket_id: `t-${id}` })) }],
    }
    await server.start()
    await server.answer(201, registered({ matches: [odd] }))
    await server.begin('m7')
    await settle(server, { matches: [odd] })
    await server.admit(joinToken('constructor'))
    await settle(server, { matches: [odd] })
    await server.left('toString')
    await server.over('m7', { ranking: ODD_IDS.map((id) => [id]) })
    await settle(server, {})
  },
  'a token of a seat that is not its player’s any more is void': async (server) => {
    const roster = (ann: object[], version: number) => {
      const [red, blue] = duel('m7').teams as [WireTeam, WireTeam]
      const ben = { id: 'ben', ticket_id: 't-ben', seat_id: 's-ben' }
      return orders({
        version,
        matches: [
          {
            ...duel('m7'),
            teams: [
              { ...red, players: ann },
              { ...blue, players: [ben] },
            ],
          },
        ],
      })
    }
    const seat = { id: 'ann', ticket_id: 't-ann', seat_id: 's-ann' }
    await play(server)
    await server.answer(200, roster([seat], 9))
    await server.run(200)
    await server.admit(joinToken('ben'))
    await server.run(200)
    await server.answer(200, roster([seat], 9))
    await server.run(200)
    await server.answer(200, roster([], 10))
    await server.admit(joinToken('ann'))
    await server.run(2000)
    await server.admit(joinToken('ann', { sid: 's-new' }))
    await server.run(500)
    await server.answer(200, roster([{ ...seat, ticket_id: 't-new', seat_id: 's-new' }], 11))
    await server.admit(joinToken('ann'))
    await server.run(2000)
    await server.admit(joinToken('ben', { sid: 's-other' }, START + 1000))
    await server.run(2000)
  },
  'a server that is gone has its grace, and refuses matches and players': async (server) => {
    await play(server)
    await server.answer(410, { detail: 'This server is no longer needed. End its process.' })
    await server.run(250)
    await server.answer(200, orders({ version: 9, matches: [duel('m7'), duel('m9')] }))
    await server.admit(joinToken('ann', { mid: 'm9' }))
    await server.admit(joinToken('zoe'))
    await server.run(24_750)
  },
  'a twin: it is not known yet which deployment is followed, and then it is another': async (server) => {
    await server.start()
    await server.answer(503, { code: 'unavailable', detail: 'Retry later.' }, { 'retry-after': '1' })
    await server.run(1000)
    await server.answer(410, { detail: 'Another deployment replaced this one. End this process.' })
    await server.run(250)
    await server.stopped()
    await server.run(2000)
  },
  'the process is ended by a signal: at once it refuses a match that loads, and its last report ends another': async (
    server,
  ) => {
    await play(server)
    await server.seats('m7', { open: true })
    await settle(server)
    await server.admit(joinToken('ann'))
    await settle(server, { version: 9, matches: [duel('m7'), duel('m8')] })
    await server.signal()
    await server.run(200)
    await server.answer(200, orders({ version: 10, want: 'drain', matches: [duel('m7'), duel('m8')] }))
    await server.run(500)
    await server.stopped()
    await server.run(100)
    await server.begin('m8')
    await server.answer(200, orders({ version: 11, want: 'stop' }))
  },
  'the process is ended by a signal while it drains and a match loads': async (server) => {
    await play(server)
    await settle(server, { version: 9, matches: [duel('m7'), duel('m8')] })
    await server.shutdown()
    await settle(server, { version: 10, want: 'drain', matches: [duel('m7'), duel('m8')] })
    await server.signal()
    await server.begin('m8')
    await server.run(200)
    await server.answer(200, orders({ version: 11, want: 'drain', matches: [duel('m7')] }))
    await server.stopped()
    await server.run(200)
    await server.answer(200, orders({ version: 12, want: 'stop' }))
  },
  'the process is ended by a signal while Muster is silent': async (server) => {
    await play(server)
    await server.shutdown()
    await server.over('m7')
    await server.run(100)
    await server.signal()
    await server.run(100)
    await server.lose()
    await server.run(100)
    await server.stopped()
    await server.run(2000)
  },
}

const enrolment = {
  MUSTER_ENROL_KEY: ENROL_KEY,
  MUSTER_SERVER_NAME: 'fra-1/3',
  MUSTER_SERVER_ADDRESS: '203.0.113.9',
  MUSTER_SERVER_PORTS: 'game=7777/udp , web_1=8080/tcp/udp,\traw=9000\n',
}
const enrolled = (token: string, more: object = {}) => registered({ token, ...more })

/** Sessions of processes that enrol in a pool. */
const ENROLMENTS: Readonly<Record<string, (server: Server) => Promise<void>>> = {
  'registrations that do not hold are repeated with growing pauses': async (server) => {
    await server.start()
    for (const [status, pauseMs] of [
      [401, 250],
      [409, 500],
      [401, 1000],
    ] as const) {
      await server.answer(200, enrolled('e-1.one'))
      await server.run(200)
      await server.answer(status, { detail: 'No such server.' })
      await server.run(pauseMs)
    }
    await server.answer(200, enrolled('e-1.one'))
    await server.run(200)
    await server.answer(200, orders())
    await server.run(200)
    await server.answer(401)
    await server.run(200)
  },
  'it plays, and has its own token from then on': async (server) => {
    await server.start()
    await server.answer(409, { code: 'name-in-use', detail: 'name: another process has the name.' })
    await server.run(1000)
    await server.answer(200, enrolled('e-1.one'))
    await server.run(200)
    await server.answer(200, orders({ version: 8, matches: [duel('m7')] }))
    await server.begin('m7')
    await settle(server)
    await server.admit(joinToken('ann'))
    await settle(server)
  },
  'it registers again by its token, and by the key where Muster does not know that any more': async (server) => {
    await server.start()
    await server.answer(200, enrolled('e-1.one'))
    await server.run(200)
    await server.answer(200, orders())
    await server.run(200)
    await server.answer(409, { code: 'server-not-registered', detail: 'Send POST /servers first.' })
    await server.run(200)
    await server.answer(200, registered())
    await server.run(200)
    await server.answer(200, orders())
    await server.run(200)
    await server.answer(401, { code: 'unauthorized' })
    await server.run(200)
    await server.answer(401, { code: 'unauthorized' })
    await server.run(1000)
    await server.answer(200, enrolled('e-2.two'))
    await server.run(200)
    await server.answer(200, orders())
    await server.run(1000)
  },
  'it repeats the datagram by which Muster knocks, and no other, until that is known': async (server) => {
    const knock = KNOCK.padEnd(43, 'a')
    await server.start()
    await server.knock(knock)
    await server.answer(200, enrolled('e-1.one', { knock: KNOCK }))
    await server.run(200)
    await server.answer(200, orders({ knock: KNOCK }))
    await server.run(1000)
    await server.knock('muster-knock-'.padEnd(43, 'b'))
    await server.run(1000)
    await server.knock(knock)
    await server.knock(knock)
    await server.run(200)
    await server.answer(200, orders({ version: 8, knock: KNOCK }))
    await server.run(1000)
    await server.answer(200, orders({ version: 9, matches: [duel('m7')] }))
    await server.run(200)
    await server.answer(200, orders({ version: 9, matches: [duel('m7')] }))
    await server.knock(knock)
    await server.run(1000)
  },
  'it is ended since it has not proved its address': async (server) => {
    await server.start()
    await server.answer(200, enrolled('e-1.one', { knock: KNOCK }))
    await server.run(200)
    await server.answer(410, { code: 'server-gone', detail: 'It has not proved its address. End its process.' })
    await server.stopped()
    await server.run(200)
  },
}

test('the committed transcript equals what the game server does (`--update` rewrites the transcript)', async () => {
  const lines: Line[] = []
  for (const [session, act] of Object.entries(SESSIONS)) {
    const own: Line[] = []
    await act(openServer(own))
    lines.push({ session }, ...inOrder(own))
  }
  for (const [session, environment] of Object.entries(ENVIRONMENTS)) {
    const own: Line[] = []
    await openServer(own, environment).start()
    lines.push({ session: `where it runs: ${session}` }, ...own)
  }
  for (const [session, act] of Object.entries(ENROLMENTS)) {
    const own: Line[] = []
    await act(openServer(own, enrolment))
    lines.push({ session: `a machine of one's own: ${session}` }, ...inOrder(own))
  }
  const own: Line[] = []
  await openServer(own, {
    MUSTER_ENROL_KEY: ENROL_KEY,
    MUSTER_SERVER_NAME: 'fra-1/4',
    SERVICE_REQUEST_ID: 'r1',
  }).start()
  lines.push({ session: "a machine of one's own: without ports and address, and in no deployment" }, ...own)
  expect(lines.length).toBeGreaterThan(300)
  await expect(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`).toMatchFileSnapshot(PATH.pathname)
})
