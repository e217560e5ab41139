// The page: searches a match, connects to its server, and plays.
const { createMuster } = globalThis.Muster
const at = (id) => document.getElementById(id)
const say = (text) => (at('status').textContent = text)

const WORDS = {
  searching: 'Looking for another player …',
  found: 'Found one. The server starts …',
  assigned: 'Connecting …',
}

/**
 * Plays on the server, which closes the connection after the match. Resolves with the winner; undefined if there is
 * none yet.
 */
const playOn = ({ fqdn, ports, joinToken }) =>
  new Promise((resolve) => {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
    const socket = new WebSocket(`${scheme}://${fqdn}:${ports.game.external}`)
    let winner
    socket.addEventListener('open', () => socket.send(joinToken))
    socket.addEventListener('message', ({ data }) => {
      const now = JSON.parse(data)
      winner = now.winner
      say(Object.keys(now.taps).length < 2 ? 'The other player connects …' : 'Tap as fast as you can!')
      if (winner !== undefined) say(`${winner} has won.`)
      at('tap').hidden = false
      at('scores').replaceChildren(
        ...Object.entries(now.taps).map(([player, taps]) => {
          const bar = Object.assign(document.createElement('progress'), { max: now.goal, value: taps })
          const label = document.createElement('label')
          label.append(`${player}: ${taps}`, bar)
          return label
        }),
      )
    })
    const tap = () => socket.send('tap')
    at('tap').addEventListener('click', tap)
    socket.addEventListener('close', () => {
      at('tap').removeEventListener('click', tap)
      resolve(winner)
    })
  })

at('login').addEventListener('submit', async (event) => {
  event.preventDefault()
  at('play').disabled = true
  let muster
  try {
    const answer = await fetch(`/session?name=${encodeURIComponent(at('name').value)}`)
    if (!answer.ok) throw new Error(await answer.text())
    muster = createMuster(await answer.json())
    muster.subscribe(({ phase, stale }) => say(stale === undefined ? (WORDS[phase] ?? '') : 'Muster does not answer …'))
    // If the player already has a match, e.g. after a reload, `play` continues with that match.
    const winner = await playOn(await muster.play({ profile: 'duel' }))
    if (winner === undefined) say('The connection was lost. Play again to return.')
    else say(`${winner} has won.`)
  } catch (error) {
    say(error.message)
  }
  muster?.close()
  at('tap').hidden = true
  at('play').disabled = false
})
