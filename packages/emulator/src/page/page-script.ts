// pure: the page's own code

/**
 * The page's own code: fetches the page again each second and brings the one that is shown into line with it,
 * node by node, so that focus, selection and scroll positions stay. Nothing is ever read as markup but whole pages of ours.
 */
export const pageScript = String.raw`
'use strict'
const live = document.getElementById('live')
const following = document.getElementById('following')
const pause = document.getElementById('pause')
const INTERVAL_MS = 1000
const TIMEOUT_MS = 5000
let paused = false

function say(text, kind) {
  if (following.textContent !== text) following.textContent = text
  following.className = kind
}

function alignAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) if (!wanted.hasAttribute(name)) shown.removeAttribute(name)
  for (const { name, value } of wanted.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value)
}

/** Elements with an id are the same as before wherever they stand now; others by their place. */
function alignChildren(shown, wanted) {
  const known = new Map()
  for (const child of shown.children) if (child.id !== '') known.set(child.id, child)
  let place = shown.firstChild
  for (const child of [...wanted.childNodes]) {
    let same = child.id ? known.get(child.id) : place
    if (!same || same.nodeName !== child.nodeName || (same.id ?? '') !== (child.id ?? '')) same = document.importNode(child, true)
    else align(same, child)
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
  const answer = await fetch('/_emulator', { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!answer.ok) throw new Error('status ' + answer.status)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  if (!paused) align(live, page.getElementById('live'))
}

async function follow() {
  if (!paused && !document.hidden) {
    try {
      await refresh()
      if (!paused) say('Live', 'on')
    } catch {
      if (!paused) say('The emulator does not answer', 'bad')
    }
  }
  setTimeout(follow, INTERVAL_MS)
}

pause.hidden = false
pause.addEventListener('click', () => {
  paused = !paused
  pause.setAttribute('aria-pressed', String(paused))
  if (paused) say('Paused', '')
  else say('Going on', '')
})
follow()
`
