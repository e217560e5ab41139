/** Games among friends: a lobby with a code, and the page of its host in place of a game server. */
import { createLobbies } from '@muster/client/lobbies'
import { nameOf } from './field.js'
import { isMove, newWorld, step, winner, withPlayers } from 'rules'

const TICK_MS = 1000 / 30
const SECONDS = 90
/** Milliseconds for which a result stands before the next game. */
const RESULT_MS = 3000
/** Milliseconds after which a friend of whom nothing is heard is not on the field. */
const SILENT_MS = 3000

const HOW =
  'One of you is the host, and packets go over a relay. A browser cannot send UDP, so the backend does it. ' +
  'A native game sends them itself.'

/** @param page what of the page the lobby uses */
export function createLobby({ muster, player, show, showWorld, stage, close, idle }) {
  const lobbies = createLobbies(muster)
  let lobby
  /** What is played over the relay, by these credentials. */
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

  /** Plays by way of the bridge: a browser cannot send UDP. */
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
      // The relay does not answer, or has forgotten this page: the lobby says what happens next.
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

  /** The host decides what happens, as a game server would. */
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
  /** The others say where they want to go, again and again: packets may be lost. */
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
    /** @returns whether the player was in a lobby before a reload */
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

/** A packet has 1187 bytes at most. */
const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)
