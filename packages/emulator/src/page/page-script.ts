// pure: the pages' script

/**
 * The script of all pages. It fetches the page again each second and updates the shown one node by node, so that focus,
 * selection and scroll positions stay. Only whole pages from the emulator are parsed as markup. If the shown data is
 * outdated, the data is greyed out and a bar warns about it.
 */
export const pageScript = String.raw`
'use strict'
const live = document.getElementById('live')
const following = document.getElementById('following')
const pause = document.getElementById('pause')
const alarm = document.getElementById('alarm')
const INTERVAL_MS = 1000
const TIMEOUT_MS = 5000
const TYPING_MS = 150
const title = document.title
let paused = false
let shownAt = Date.now()
let asked = 0
let answered = 0

function say(text, kind) {
  if (following.textContent !== text) following.textContent = text
  following.className = kind
}

/** Shows a warning. An empty string removes it. */
function warn(text, kind) {
  if (alarm.textContent !== text) alarm.textContent = text
  alarm.className = kind
  alarm.hidden = text === ''
  live.classList.toggle('stale', kind === 'bad')
  document.title = text === '' ? title : '⚠ ' + title
}

const clockTime = (at) => new Date(at).toLocaleTimeString()

function alignAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) if (!wanted.hasAttribute(name)) shown.removeAttribute(name)
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value)
  }
}

/** Elements with an id are matched by id, regardless of their position; other elements by position. */
function alignChildren(shown, wanted) {
  const known = new Map()
  for (const child of shown.children) if (child.id !== '') known.set(child.id, child)
  let place = shown.firstChild
  for (const child of [...wanted.childNodes]) {
    let same = child.id ? known.get(child.id) : place
    if (same && same.nodeName === child.nodeName && (same.id ?? '') === (child.id ?? '')) align(same, child)
    else same = document.importNode(child, true)
    if (same === place) place = place.nextSibling
    else shown.insertBefore(same, place)
  }
  while (place) {
    const next = place.nextSibling
    place.remove()
    place = next
  }
}

function align(shown, wanted) {
  if (shown.nodeType !== Node.ELEMENT_NODE) {
    if (shown.nodeValue !== wanted.nodeValue) shown.nodeValue = wanted.nodeValue
    return
  }
  alignAttributes(shown, wanted)
  alignChildren(shown, wanted)
}

async function refresh() {
  const mine = ++asked
  const answer = await fetch(location.pathname + location.search, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const text = await answer.text()
  const wanted = new DOMParser().parseFromString(text, 'text/html').getElementById('live')
  if (!wanted) throw new Error('the page answered with HTTP ' + answer.status)
  // A response that arrives after that of a later request is outdated.
  if (paused || mine < answered) return
  answered = mine
  shownAt = Date.now()
  align(live, wanted)
  say('Live', 'on')
  warn('', '')
}

async function tryRefresh() {
  try {
    await refresh()
  } catch {
    if (paused) return
    say('Not answering', 'bad')
    const agoSeconds = Math.round((Date.now() - shownAt) / 1000)
    const age = clockTime(shownAt) + ', ' + agoSeconds + ' s ago.'
    warn('The emulator does not answer. What is shown is from ' + age, 'bad')
  }
}

async function follow() {
  if (!paused && !document.hidden) await tryRefresh()
  setTimeout(follow, INTERVAL_MS)
}

pause.hidden = false
pause.addEventListener('click', () => {
  paused = !paused
  pause.setAttribute('aria-pressed', String(paused))
  pause.textContent = paused ? 'Go on' : 'Pause'
  if (!paused) return void tryRefresh()
  say('Paused', '')
  warn('Paused: what is shown is from ' + clockTime(shownAt) + '.', 'paused')
})

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !paused) void tryRefresh()
})

let typing
document.addEventListener('input', ({ target }) => {
  if (target.id !== 'search') return
  clearTimeout(typing)
  typing = setTimeout(() => {
    const text = target.value.trim()
    history.replaceState(null, '', text === '' ? location.pathname : '?q=' + encodeURIComponent(text))
    if (!paused) void tryRefresh()
  }, TYPING_MS)
})
document.addEventListener('submit', (event) => {
  if (event.target.getAttribute('role') === 'search') event.preventDefault()
})

let token = ''
const stop = (path) => {
  const headers = { 'x-muster-emulator': 'stop', ...(token && { authorization: 'token ' + token }) }
  return fetch(path, { method: 'POST', headers })
}

document.addEventListener('click', async ({ target }) => {
  const path = target.dataset?.stop
  if (!path) return
  target.disabled = true
  try {
    let answer = await stop(path)
    if (answer.status === 401) {
      token = prompt('The API token, without which nothing can be stopped:')?.trim() ?? ''
      if (token !== '') answer = await stop(path)
      if (answer.status === 401) token = ''
    }
    if (!answer.ok) throw new Error('the stop answered with HTTP ' + answer.status)
  } catch {
    target.disabled = false
    target.textContent = 'It could not be stopped. Try again'
  }
  if (!paused) await tryRefresh()
})
follow()
`
