/** The page. It shows the player, what Muster reports about the player, and the game. */
import { createMuster } from '@muster/client'
import { createField, nameOf } from './field.js'
import { createLobby } from './lobby.js'

const element = (id) => document.getElementById(id)
const buttons = [...document.querySelectorAll('#panel button, #join')]

/** Shows the panel with a text and only these buttons. Without a text, hides the panel. */
function show(text, detail = '', ...ids) {
  element('panel').hidden = text === undefined
  element('status').textContent = text ?? ''
  element('detail').textContent = detail
  for (const button of buttons) if (button.id !== '') button.hidden = !ids.includes(button.id)
}

/** Signs in. The player of a tab stays the same after a reload. */
async function signIn() {
  const headers = { authorization: `Bearer ${sessionStorage.getItem('token')}` }
  const session = await (await fetch('/session', { method: 'POST', headers })).json()
  sessionStorage.setItem('token', session.token)
  element('me').textContent = `${nameOf(session.id)} · ${session.shown}`
  return session
}

let session = await signIn()
const muster = createMuster({ url: '/play', token: () => session.token })
/** Called with the direction in which the player wants to go. */
let moved = () => {}
const field = createField(element('field'), (move) => moved(move))

/** The code with which the server closes a connection, because its player has connected again. */
const ELSEWHERE = 4000
let socket
/**
 * What the field shows: a match that is played (`play`) or watched (`watch`), a running match behind the panel
 * (`behind`), or a game of `friends`.
 */
let purpose

const say = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

/** Clears the field for another game. */
function stage(why, tell = () => {}) {
  close()
  purpose = why
  moved = tell
  const isBehind = why === 'behind'
  document.body.classList.toggle('playing', !isBehind)
  element('leave').textContent = why === 'watch' ? 'Stop watching' : 'Leave'
  for (const id of ['leave', 'score']) element(id).hidden = isBehind
  field.begin(why === 'play' || why === 'friends' ? session.id : undefined)
}

/** Connects to a game server. The first message says who connects. */
function open({ host, port }, first, why) {
  stage(why, why === 'play' ? (move) => say({ move }) : undefined)
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
  // The emulator's servers run on the machine that serves the page.
  const opened = new WebSocket(`${scheme}://${host === 'localhost' ? location.hostname : host}:${port}`)
  socket = opened
  let result
  opened.addEventListener('open', () => opened.send(JSON.stringify(first)))
  opened.addEventListener('message', ({ data }) => {
    const { world, over } = JSON.parse(data)
    if (world !== undefined) showWorld(world)
    result = over ?? result
  })
  opened.addEventListener('close', ({ code }) => {
    if (socket === opened) void closed(result, code)
  })
}

function close() {
  const before = socket
  socket = undefined
  purpose = undefined
  moved = () => {}
  document.body.classList.remove('playing')
  for (const id of ['leave', 'score']) element(id).hidden = true
  before?.close()
}

let shown
function showWorld(world) {
  shown = world
  field.show(world)
  const isRight = world.skaters.find(({ id }) => id === session.id)?.team === 1
  const [ours, theirs] = isRight ? world.score.toReversed() : world.score
  const left = Math.max(0, Math.ceil(world.secondsLeft))
  element('ours').textContent = ours
  element('theirs').textContent = theirs
  const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
  element('clock').textContent = left === 0 ? 'next goal wins' : clock
  element('field').ariaLabel = `On the field: ${world.here.map(nameOf).join(', ')}`
}

/** Called when the server has closed the connection: the game is over, or the connection was lost. */
async function closed(result, code) {
  const [why, world] = [purpose, shown]
  close()
  if (why !== 'play') return why === 'watch' ? idle() : undefined
  if (code === ELSEWHERE) return show('You play in another window')
  if (result === undefined) return setTimeout(comeBack, 500)
  const won = world?.skaters.find(({ id }) => id === session.id)?.team === result.won
  const before = session
  idle(won ? 'You have won' : 'You have lost')
  await freed()
  // Waits until Muster has sent the result to the backend.
  for (let tries = 0; tries < 20 && session.played === before.played; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    session = await signIn()
  }
  void list()
  if (element('status').textContent.startsWith('You have'))
    element('detail').textContent = `Your rating was ${before.shown}, and is ${session.shown} now.`
}

/** Waits until Muster knows that the player has left, which the game server reports. */
async function freed() {
  for (let tries = 0; tries < 20; tries += 1) {
    const { phase } = await muster.resume().catch(() => muster.state)
    if (phase !== 'assigned') return
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Shows what a player can do who is in no ticket, group or match. */
function idle(text = 'Get the puck into their goal', detail = '') {
  show(text, detail, 'duel', 'pairs', 'invite', 'host', 'join')
  void list()
}

/** Continues with the player's ticket, group or match: after loading, after a reload, and after a lost connection. */
async function comeBack(tries = 0) {
  try {
    const state = await muster.resume()
    if (state.phase === 'assigned') enter(state.assignment)
    else if (state.phase === 'gathering') void gather()
    else if (state.phase === 'searching' || state.phase === 'found')
      await follow(muster.play({ profile: state.ticket.queue }))
    else if (location.hash.startsWith('#party=')) await joinParty(location.hash.slice('#party='.length))
    else if (!(await lobby.comeBack())) idle()
  } catch {
    show('The connection broke', 'Trying again …')
    setTimeout(() => comeBack(tries + 1), Math.min(5000, 500 * 2 ** tries))
  }
}

/** Enters a game. The join token tells the server which player connects. */
function enter({ fqdn, ports, joinToken }) {
  show(undefined)
  open({ host: fqdn, port: ports.game.external }, { join: joinToken }, 'play')
}

/** Follows a search until it ends. */
async function follow(search) {
  try {
    enter(await search)
  } catch (error) {
    idle(undefined, error.code === 'cancelled' ? '' : error.message)
  }
}

muster.subscribe((state) => {
  const wait =
    state.wait?.p50Seconds === undefined ? '' : `Half of the players wait less than ${state.wait.p50Seconds} s.`
  if (state.phase === 'searching') show('Looking for others …', wait, 'cancel')
  if (state.phase === 'found') show('A game is found', 'Its server starts …')
  if (state.phase === 'gathering') showParty(state.group)
})

/** Shows a party, which others join by a link. The party searches a match once all members are ready. */
function showParty({ id, members, isReady }) {
  const link = `${location.origin}/#party=${id}`
  const detail = members.length === 1 ? link : members.map(({ playerId }) => nameOf(playerId)).join(' and ')
  const waiting = isReady ? 'Waiting for the other …' : 'Your party'
  const text = members.length === 1 ? 'Send this link to a friend' : waiting
  show(text, detail, ...(isReady || members.length === 1 ? ['cancel'] : ['ready', 'cancel']))
}
const gather = () => follow(muster.groups.search())
async function joinParty(id) {
  history.replaceState(null, '', '/')
  await muster.groups.join(id, { profile: 'pairs' })
  await gather()
}

/** Lists the running games: to watch, or to join if a bot would leave for the player. */
async function list() {
  const { games, best } = await (await fetch('/games')).json()
  const row = (text, ...others) => {
    const item = document.createElement('li')
    const label = document.createElement('span')
    label.textContent = text
    item.append(label, ...others)
    return item
  }
  const button = (text, act) => {
    const made = Object.assign(document.createElement('button'), { textContent: text, className: 'quiet' })
    made.addEventListener('click', act)
    return made
  }
  const isFree = ['idle', 'ended'].includes(muster.state.phase) && purpose !== 'play' && !lobby.isOpen()
  element('games').replaceChildren(
    ...games.map((game) =>
      row(
        `${game.queue === 'duel' ? '1 v 1' : '2 v 2'}: ${game.players.map(nameOf).join(', ')}`,
        ...(isFree ? [button('Watch', () => watch(game))] : []),
        ...(isFree && game.isOpen ? [button('Join', () => join(game))] : []),
      ),
    ),
    ...(games.length === 0 ? [row('Nobody plays just now.')] : []),
  )
  element('best').replaceChildren(
    ...best.map(({ id, shown: rating }) => {
      const number = Object.assign(document.createElement('b'), { textContent: rating })
      return row(nameOf(id), number)
    }),
    ...(best.length === 0 ? [row('No game is over yet.')] : []),
  )
  // Shows a running game behind the panel.
  if (socket === undefined && games[0] !== undefined && isFree) open(games[0], { watch: games[0].id }, 'behind')
}

function watch(game) {
  show(undefined)
  open(game, { watch: game.id }, 'watch')
}

async function join(game) {
  const headers = { authorization: `Bearer ${session.token}`, 'content-type': 'application/json' }
  await fetch('/join', { method: 'POST', headers, body: JSON.stringify({ game: game.id }) })
  await follow(muster.play({ profile: game.queue }))
}

element('duel').addEventListener('click', () => follow(muster.play({ profile: 'duel' })))
element('pairs').addEventListener('click', () => follow(muster.play({ profile: 'pairs' })))
element('invite').addEventListener('click', () =>
  among(async () => {
    await muster.groups.create({ profile: 'pairs' })
    await gather()
  }),
)
element('ready').addEventListener('click', () => (lobby.isOpen() ? lobby.ready() : muster.groups.ready()))
element('cancel').addEventListener('click', async () => {
  if (lobby.isOpen()) return lobby.leave()
  await muster.groups.leave().catch(() => {})
  await comeBack()
})
element('leave').addEventListener('click', async () => {
  if (purpose === 'friends') return lobby.leave()
  const wasPlaying = purpose === 'play'
  if (wasPlaying) say({ leave: true })
  close()
  idle()
  if (wasPlaying) await freed()
})

const lobby = createLobby({ muster, player: () => session, show, showWorld, stage, close, idle })
/** Runs an action in the lobby, and shows the reason if it fails. */
const among = (act) => act().catch((error) => idle(undefined, error.message))
element('host').addEventListener('click', () => among(lobby.create))
element('start').addEventListener('click', () => among(lobby.start))
element('join').addEventListener('submit', (event) => {
  event.preventDefault()
  void among(() => lobby.join(element('code').value.trim().toUpperCase()))
})
setInterval(list, 2000)
await comeBack()
