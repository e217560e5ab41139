/** Games among friends: a lobby with a code. The page of the lobby's host takes the place of a game server. */
import { createLobbies } from '@muster/client/lobbies'
import { nameOf } from './field.js'
import { isMove, newWorld, step, winner, withPlayers } from 'rules'

const TICK_MS = 1000 / 30
const SECONDS = 90
/** Milliseconds for which a result is shown before the next game. */
const RESULT_MS = 3000
/** Milliseconds after which a friend who sends nothing is removed from the field. */
const SILENT_MS = 3000

const HOW =
  'One of you is the host, and packets go over a relay. A browser cannot send UDP, so the backend does it. ' +
  'A native game sends them itself.'

/** Creates the lobby. @param page the functions of the page that the lobby uses */
export function createLobby({ muster, player, show, showWorld, stage, close, idle }) {
  const lobbies = createLobbies(muster)
  let lobby
  /** The game that is played over the relay, with its credentials. */
  let game

  const enter = (entered) => {
    lobby = entered
    sessionStorage.setItem('lobby', lobby.state.id)
    lobby.subscribe(follow)
    follow(lobby.state)
  }
  const follow = (state) => {
    if (lobby === undefined) return
    if (state.left !== null) return end('The game among friends is over')
    if (state.relay === null) {
      stop()
      return showMembers(state)
    }
    const key = JSON.stringify(state.relay)
    if (game?.key === key) return
    stop()
    play(state, key)
  }
  const showMembers = ({ code, phase, members, hostId }) => {
    const isReady = ({ playerId, ready }) => ready || playerId === hostId
    const isHost = hostId === player().id
    const canStart = isHost && members.length > 1 && members.every(isReady)
    const canBeReady = members.some((member) => member.playerId === player().id && !isReady(member))
    const names = members.map((member) => `${nameOf(member.playerId)}${isReady(member) ? ' ✓' : ''}`)
    const detail = `${names.join(', ')}\n\n${HOW}`
    if (phase === 'open')
      show(`Code: ${code}`, detail, 'cancel', ...(canStart ? ['start'] : []), ...(canBeReady ? ['ready'] : []))
    else show('The relay is prepared …', detail, 'cancel')
  }

  /** Plays through the bridge, because a browser cannot send UDP. */
  const play = (state, key) => {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/relay`)
    const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message))
    let side
    game = { key, socket }
    socket.addEventListener('open', () => send({ token: player().token, lobby: state.id }))
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data)
      if (message.role === undefined) return side?.hear(message)
      show(undefined)
      stage('friends', (move) => side.move(move))
      side = message.role === 'host' ? hostGame(send) : joinGame(send)
    })
    socket.addEventListener('close', () => {
      side?.stop()
      // If the relay does not respond, or no longer knows this page, the lobby's state decides what happens next.
      setTimeout(() => {
        if (game?.socket !== socket || lobby === undefined) return
        game = undefined
        follow(lobby.state)
      }, 1000)
    })
  }
  const stop = () => {
    const before = game
    game = undefined
    before?.socket.close()
    if (before !== undefined) close()
  }

  /** Runs the game as host: decides what happens, as a game server would. */
  const hostGame = (send) => {
    const moves = new Map()
    const clients = new Map()
    const me = player().id
    let world = newWorld(SECONDS)
    let overAt
    const ticking = setInterval(() => {
      if (overAt === undefined && winner(world) !== undefined) overAt = performance.now()
      if (performance.now() - overAt > RESULT_MS) {
        overAt = undefined
        world = newWorld(SECONDS)
      }
      const isHeard = ({ at }) => performance.now() - at < SILENT_MS
      const here = [...new Set([me, ...[...clients.values()].filter(isHeard).map(({ id }) => id)])]
      const players = here.map((id, nth) => ({ id, team: nth % 2 }))
      if (overAt === undefined) world = step(withPlayers(world, players), moves, TICK_MS / 1000)
      const text = JSON.stringify({ ...world, at: performance.now(), here }, rounded)
      for (const to of clients.keys()) send({ to, text })
      showWorld(JSON.parse(text))
    }, TICK_MS)
    return {
      hear: ({ from, text }) => {
        const { id, move } = JSON.parse(text)
        const isMember = lobby?.state.members.some(({ playerId, present }) => playerId === id && present)
        if (!isMember || !isMove(move)) return
        clients.set(from, { id, at: performance.now() })
        moves.set(id, move)
      },
      move: (move) => moves.set(me, move),
      stop: () => clearInterval(ticking),
    }
  }
  /** Joins the game as client: sends the wanted direction repeatedly, because packets may be lost. */
  const joinGame = (send) => {
    let wanted = [0, 0]
    const ticking = setInterval(() => send({ text: JSON.stringify({ id: player().id, move: wanted }) }), TICK_MS)
    return {
      hear: ({ text }) => showWorld(JSON.parse(text)),
      move: (move) => (wanted = move),
      stop: () => clearInterval(ticking),
    }
  }

  const end = (text) => {
    stop()
    lobby = undefined
    sessionStorage.removeItem('lobby')
    idle(text)
  }
  return {
    isOpen: () => lobby !== undefined,
    create: async () => enter(await lobbies.create({ maxPlayers: 4, visibility: 'private' })),
    join: async (code) => enter(await lobbies.join(code)),
    ready: () => lobby.ready(),
    start: () => lobby.start(),
    leave: async () => {
      const left = lobby
      end()
      await left.leave()
    },
    /** Opens the lobby of before a reload. @returns true if there was one */
    comeBack: async () => {
      const id = sessionStorage.getItem('lobby')
      if (id === null) return false
      const found = await lobbies.open(id).catch(() => undefined)
      if (found === undefined) sessionStorage.removeItem('lobby')
      else enter(found)
      return found !== undefined
    },
  }
}

/** Rounds numbers, because a packet has at most 1187 bytes. */
const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)
