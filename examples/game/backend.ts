/** The game's own backend: sessions, ratings, the list of games, and the pages. It also mounts Muster's APIs. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@muster/core/clock'
import { bearerToken, type HttpHandler, nodeListener } from '@muster/core/http'
import { createTicketApi } from '@muster/matchmaker'
import { type Bots, createBots } from './bots.js'
import { createFriends, type Friends } from './friends.js'
import { type GameMuster, startMuster } from './muster.js'
import { createRatings, type Ratings } from './ratings.js'
import { createSessions, isBot, type Sessions } from './sessions.js'

export interface GameOptions {
  /** Port of the backend. Default: any free port. */
  readonly port?: number | undefined
  /** Address on which the backend listens. Default: the loopback address, which only this machine reaches. */
  readonly host?: string | undefined
  /** Seconds of a match. Default 90. */
  readonly seconds?: number | undefined
  /** Milliseconds for which a player waits before a bot joins. Default 4000. */
  readonly patienceMs?: number | undefined
}

export interface Game {
  readonly url: string
  readonly ratings: Ratings
  readonly close: () => Promise<void>
}

/** Starts the emulator, Muster, the backend and the bots. */
export async function startGame(options: GameOptions = {}): Promise<Game> {
  const { port = 0, host = '127.0.0.1', seconds = 90, patienceMs = 4000 } = options
  let answer: HttpHandler = async () => new Response(null, { status: 503 })
  const listener = createServer(nodeListener((request, connection) => answer(request, connection)))
  const url = await listen(listener, port, host)

  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const sessions = createSessions()
  const ratings = createRatings(secret, systemClock.now)
  const muster = await startMuster({ url, secret, env: { GAME_SECONDS: String(seconds), GAME_HOST: host } })
  const bots = createBots({ url: `${url}/play`, matchmaker: muster.matchmaker, sessions, patienceMs })
  const friends = createFriends({ url, client: muster.client, sessions })
  answer = createBackend({ sessions, ratings, muster, bots, friends })
  listener.on('upgrade', friends.upgrade)
  bots.start()
  return {
    url,
    ratings,
    close: async () => {
      await bots.close()
      await friends.close()
      await muster.close()
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Maximum size of a body in bytes. A result has at most 8 KiB of data. */
const LARGEST_BYTES = 64 * 1024

interface Parts {
  readonly sessions: Sessions
  readonly ratings: Ratings
  readonly muster: GameMuster
  readonly bots: Bots
  readonly friends: Friends
}

function createBackend({ sessions, ratings, muster: { matchmaker }, bots, friends }: Parts): HttpHandler {
  const callerOf = (request: Request) => {
    const id = sessions.playerOf(bearerToken(request))
    // The queues compare the rating. It comes from the backend, because players must not state it.
    return id === undefined ? undefined : { id, profile: { attributes: { ...ratings.of(id) } } }
  }
  const tickets = createTicketApi(matchmaker, { authenticate: callerOf, basePath: '/play' })

  /** Returns the games that anybody may watch, and whether each has a bot that would leave for a player. */
  const games = () =>
    matchmaker.inspect().matches.flatMap(({ matchId, queue, playerIds, assignment, hosted }) => {
      const server = assignment?.ports['game']
      if (hosted === undefined || server === undefined) return []
      const isOpen = playerIds.some(isBot)
      return [{ id: matchId, queue, players: playerIds, host: assignment?.fqdn, port: server.external, isOpen }]
    })

  const routes: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    /** Returns the player of a token. A token that is missing or from an earlier start gets a new player. */
    'POST /session': (request) => {
      const given = bearerToken(request)
      const token = sessions.playerOf(given) === undefined ? sessions.begin() : (given as string)
      return Response.json({ token, ...ratings.standing(sessions.playerOf(token) ?? '') })
    },
    'GET /games': () =>
      Response.json({
        games: games(),
        best: ratings.best(8, (id) => !isBot(id)),
      }),
    'POST /join': async (request) => {
      if (callerOf(request) === undefined) return new Response(null, { status: 401 })
      const { game } = Object(await request.json().catch(() => undefined)) as { readonly game?: unknown }
      return new Response(null, { status: bots.makeWay(String(game)) ? 204 : 409 })
    },
    'POST /results': async (request) =>
      new Response(null, { status: ratings.take(request.headers, await request.text()) }),
  }

  return async (request, connection) => {
    const { pathname } = new URL(request.url)
    if (/^\/(play\/lobbies|relay-hooks)\b/.test(pathname)) return friends.answer(request, connection)
    if (pathname.startsWith('/play/')) return tickets(request, connection)
    const route = routes[`${request.method} ${pathname}`]
    if (route === undefined) return page(pathname)
    const isOfUnknownLength = request.headers.has('transfer-encoding')
    const isTooLarge = isOfUnknownLength || Number(request.headers.get('content-length')) > LARGEST_BYTES
    return isTooLarge ? new Response(null, { status: 413 }) : route(request)
  }
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
const beside = (path: string) => new URL(path, import.meta.url)
/** The folders of the page, of the game's rules, and of the client package: modules that browsers load unchanged. */
const FOLDERS: Readonly<Record<string, URL>> = {
  '': beside('../../game/page/'),
  game: beside('./'),
  muster: new URL('./', import.meta.resolve('@muster/client')),
}

async function page(pathname: string): Promise<Response> {
  const found = /^\/(?:(game|muster)\/)?([\w-]+\.(?:html|js|css))?$/.exec(pathname)
  const [, folder = '', name = 'index.html'] = found ?? []
  const isSecret = found === null || (folder === 'game' && name !== 'rules.js')
  const type = TYPES[name.replace(/^.*\./, '')] ?? ''
  const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' }
  try {
    if (!isSecret) return new Response(await readFile(fileURLToPath(new URL(name, FOLDERS[folder]))), { headers })
  } catch {}
  return new Response('Not found', { status: 404 })
}
