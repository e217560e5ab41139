import { FIRST_PAUSE_MS, isPassing, LONGEST_PAUSE_MS, LONGEST_RETRY_MS, SAME_POLL_MS } from './connection.js'
import { type Refusal, refusalOf, WRONG_ANSWER } from './refusal.js'
import { fits } from './shapes.js'
import type { PlayRequest, State } from './state.js'
import { assignmentOf, type WireGroup, type WireMember, type WirePlayer, type WireTicket } from './wire.js'

/**
 * The client without its connection: answers and wishes in, requests and states out. It reads no clock, sends nothing
 * and draws no random number of its own, so every language of the engines has the same one, and all replay one
 * transcript (engines/README.md).
 */
export interface Machine {
  /** @param now milliseconds of any clock that does not go backwards */
  step(input: Input, now: number): readonly Output[]
}

/** A wish of the game has a number, by which it is told once what came of it: at the latest when the game closes. */
export type Input =
  | { readonly do: 'resume' | 'cancel' | 'accept' | 'decline'; readonly command: number }
  | { readonly do: 'play'; readonly command: number; readonly request: PlayRequest }
  | { readonly do: 'group'; readonly command: number; readonly request: PlayRequest; readonly join?: string }
  | { readonly do: 'ready'; readonly command: number; readonly isReady: boolean }
  | { readonly do: 'close'; readonly command: number }
  /** The answer to a request; status 0: none came, or it was not from Muster. */
  | { readonly answer: number; readonly status: number; readonly body?: unknown; readonly retryAfterMs?: number }
  /** The time of `wakeAt` has come. */
  | { readonly wake: true }

export type Output =
  /** `waitMs`: for how long Muster may hold the answer, beside the usual time. */
  | {
      readonly request: number
      readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
      readonly path: string
      readonly body?: object
      readonly waitMs: number
    }
  /** The answer is not wanted any more. */
  | { readonly abort: number }
  /** When to be woken next; replaces an earlier one; null: not at all. */
  | { readonly wakeAt: number | null }
  | { readonly state: State }
  /** A wish has come true: a search has a server, the player is taken out, … */
  | { readonly done: number }
  | { readonly failed: number; readonly refusal: Refusal }

/** Seconds for which Muster holds a long poll: proxies cut connections that are silent for longer. */
const WAIT_SECONDS = 25
/** Milliseconds between two looks at a group that gathers. */
const GATHER_MS = 1000

interface Job {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  readonly body?: object
  waitMs?: number
  /** Of a good answer; none: whatever it says. */
  readonly shape?: string
  readonly good: (body: never) => void
  readonly refused: (refusal: Refusal) => void
}

interface Sent extends Job {
  /** Of the request that is under way. */
  request: number | undefined
  /** When it is sent (again). */
  dueAt: number
  failures: number
}

type Slot = 'me' | 'enter' | 'follow' | 'act'
type Kind = 'resume' | 'search' | 'group' | 'cancel' | 'act'

/** Where the player is, as far as it is known. */
type Place =
  | { readonly in: 'nothing' }
  | { readonly in: 'group'; readonly group: string; readonly member: string }
  | { readonly in: 'ticket'; readonly ticket: string; readonly version: number }

const NOWHERE: Place = { in: 'nothing' }
const IDLE: State = Object.freeze({ phase: 'idle' })

/** @param random from 0 to 1: spreads what many clients would otherwise do at the same moment */
export function createMachine(random: () => number): Machine {
  const jobs = new Map<Slot, Sent>()
  let out: Output[] = []
  let now = 0
  let requests = 0
  let state: State = IDLE
  let staleSince: number | undefined
  let place: Place = NOWHERE
  /** Wishes that have no answer, by what ends them: all of a kind end at once. */
  const waiting: Record<Kind, number[]> = {
    /** With what the player is in. */
    resume: [],
    /** With a server, or without. */
    search: [],
    /** With a group. */
    group: [],
    /** With nothing that the player is in, although what there is may not be known yet. */
    cancel: [],
    /** With the answer to the job `act`. */
    act: [],
  }
  /** A create is not settled: it has no answer, or this refusal, which says that the player is in something. */
  let entering: { readonly refusal?: Refusal } | undefined
  /** The latest long poll, and when it is sent. */
  let polled: { readonly path: string; readonly at: number } | undefined
  let wakeAt: number | null = null
  let isClosed = false

  const show = (shown: State) => {
    const next = staleSince === undefined ? shown : { ...shown, stale: staleSince }
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = Object.freeze(next)
    out.push({ state })
  }
  const setStale = (since: number | undefined) => {
    if ((staleSince === undefined) === (since === undefined)) return
    staleSince = since
    const { stale: _, ...rest } = state
    show(rest as State)
  }

  const drop = (slot: Slot) => {
    const job = jobs.get(slot)
    if (job?.request !== undefined) out.push({ abort: job.request })
    jobs.delete(slot)
    if (slot === 'act') failAll('act', SUPERSEDED)
  }
  const start = (slot: Slot, job: Job, inMs = 0) => {
    drop(slot)
    jobs.set(slot, { ...job, request: undefined, dueAt: now + inMs, failures: 0 })
  }
  const send = (job: Sent) => {
    requests += 1
    job.request = requests
    const { method, path, body, waitMs = 0 } = job
    out.push({ request: requests, method, path, ...(body && { body }), waitMs })
  }

  const done = (command: number) => void out.push({ done: command })
  const fail = (command: number, refusal: Refusal) => void out.push({ failed: command, refusal })
  const doneAll = (kind: Kind) => waiting[kind].splice(0).forEach(done)
  const failAll = (kind: Kind, refusal: Refusal) => waiting[kind].splice(0).forEach((command) => fail(command, refusal))
  const isCancelling = () => waiting.cancel.length > 0

  /** The player is in nothing any more. */
  const leave = (reason: string | undefined) => {
    for (const slot of ['follow', 'me'] as const) drop(slot)
    place = NOWHERE
    // What is to be cancelled is not there any more: a request that is repeated could cancel what comes next.
    if (isCancelling()) drop('act')
    doneAll('cancel')
    show(reason === undefined ? IDLE : { phase: 'ended', reason })
    doneAll('resume')
    failAll('search', { status: 0, code: reason ?? 'gone', message: 'The search has ended.' })
  }

  const lookUp = () =>
    start('me', {
      method: 'GET',
      path: '/me',
      shape: 'me',
      good: (me: WirePlayer) => {
        const refusal = entering?.refusal
        entering = undefined
        takeUp(me, refusal)
        if (state.phase === 'gathering') doneAll('group')
        else if (refusal !== undefined) failAll('group', refusal)
        doneAll('resume')
      },
      refused: (refusal) => {
        failAll('resume', refusal)
        // Something else waits for the answer, too.
        if (entering !== undefined || (place.in !== 'nothing' && !jobs.has('follow'))) lookUp()
      },
    })
  /** A look that is under way is the answer, too. */
  const look = () => (jobs.get('me')?.request === undefined ? lookUp() : undefined)

  /** @param refusal stands if the player is in nothing */
  const takeUp = (me: WirePlayer, refusal?: Refusal) => {
    const match = me.matches.find(({ assignment }) => assignment)
    const seat = me.seats?.find(({ assignment }) => assignment)
    const ticket = me.tickets.find(({ status, ended }) => status !== 'CANCELLED' && !ended)
    const gathering = me.groups.find(({ status }) => status === 'FORMING')
    // What leads to a server comes first; a match that runs has a ticket as well.
    if (match?.assignment) return assigned(match.match_id, match.assignment)
    if (ticket !== undefined) {
      if (place.in !== 'ticket' || place.ticket !== ticket.id) place = NOWHERE
      return setTicket(ticket, true)
    }
    if (gathering !== undefined) return setMember(gathering)
    if (seat?.assignment) return assigned(null, seat.assignment)
    if (refusal !== undefined) return refuse(refusal)
    if (isCancelling()) return leave('cancelled')
    leave(place.in === 'nothing' ? undefined : 'gone')
  }

  const assigned = (matchId: string | null, assignment: Parameters<typeof assignmentOf>[0]) => {
    drop('follow')
    place = NOWHERE
    show({ phase: 'assigned', matchId, assignment: assignmentOf(assignment) })
    if (isCancelling()) drop('act')
    failAll('cancel', TOO_LATE)
    doneAll('search')
  }

  /** @param isFollowed whether it is what the player is in, and not an answer to something else */
  const setTicket = (ticket: WireTicket, isFollowed: boolean) => {
    if (place.in === 'ticket' && (place.ticket !== ticket.id || ticket.version < place.version)) return follow()
    if (!isFollowed && place.in !== 'ticket') return
    const isNew = place.in !== 'ticket' || ticket.version > place.version
    place = { in: 'ticket', ticket: ticket.id, version: ticket.version }
    const known = { id: ticket.id, queue: ticket.profile, groupId: ticket.group_id ?? null }
    const { status, acceptance, estimated_wait: wait, assignment, ended } = ticket
    if (status === 'CANCELLED') return leave(ticket.cancel_reason ?? 'cancelled')
    if (ended) return leave(ended.reason)
    if (status === 'HOST_ASSIGNED' && assignment) return assigned(ticket.match_id ?? null, assignment)
    if (isCancelling()) return takeOut()
    if (isNew || isFollowed) {
      if (status === 'SEARCHING')
        show({
          phase: 'searching',
          ticket: known,
          wait: wait ? { p50Seconds: wait.p50_seconds, p90Seconds: wait.p90_seconds ?? null } : null,
        })
      else show({ phase: 'found', ticket: known, acceptance: acceptance ?? null })
    }
    follow()
  }

  const follow = () => {
    if (place.in !== 'ticket') return
    const waitMs = WAIT_SECONDS * 1000
    const path = `${ownPath()}?wait=${WAIT_SECONDS}&version=${place.version}`
    // The one that is under way asks for the same.
    if (jobs.get('follow')?.path === path) return
    const good = (answer: WireTicket) => setTicket(answer, true)
    const inMs = polled?.path === path ? Math.max(0, polled.at + SAME_POLL_MS - now) : 0
    polled = { path, at: now + inMs }
    start('follow', { method: 'GET', path, shape: 'ticket', waitMs, good, refused: elsewhere }, inMs)
  }

  /** What is known is not so any more. */
  const elsewhere = () => lookUp()

  const setMember = (member: WireMember) => {
    place = { in: 'group', group: member.group_id, member: member.member_id }
    if (isCancelling()) return takeOut()
    if (typeof member.ticket_id === 'string') return openTicket(member.ticket_id)
    if (member.status === 'CANCELLED') return leave('cancelled')
    const known = state.phase === 'gathering' && state.group.id === member.group_id ? state.group : undefined
    const { members = [], waitingFor = [] } = known ?? {}
    show({ phase: 'gathering', group: { id: member.group_id, isReady: member.is_ready, members, waitingFor } })
    gather(0)
  }

  /** Of the ticket, or the player's place in the group. */
  const ownPath = () => {
    if (place.in === 'ticket') return `/tickets/${encodeURIComponent(place.ticket)}`
    if (place.in === 'nothing') return ''
    return `/groups/${encodeURIComponent(place.group)}/members/${encodeURIComponent(place.member)}`
  }

  const gather = (inMs: number) => {
    if (place.in !== 'group') return
    const { group } = place
    const good = (answer: WireGroup) => {
      if (place.in !== 'group' || place.group !== group) return
      if (answer.status !== 'FORMING')
        return start('follow', { ...GET, path: ownPath(), shape: 'member', good: setMember, refused: elsewhere })
      if (state.phase === 'gathering') {
        const members = answer.members.map(({ player_id, is_ready }) => ({ playerId: player_id, isReady: is_ready }))
        const waitingFor = members.flatMap(({ playerId, isReady }) => (isReady ? [] : [playerId]))
        show({ phase: 'gathering', group: { ...state.group, members, waitingFor } })
      }
      gather(GATHER_MS)
    }
    const path = `/groups/${encodeURIComponent(group)}`
    start('follow', { ...GET, path, shape: 'group', good, refused: elsewhere }, inMs)
  }

  const openTicket = (ticket: string) => {
    const good = (answer: WireTicket) => {
      place = NOWHERE
      setTicket(answer, true)
    }
    const path = `/tickets/${encodeURIComponent(ticket)}`
    start('follow', { ...GET, path, shape: 'ticket', good, refused: elsewhere })
  }

  const enter = (path: string, body: object) => {
    entering = {}
    // An answer about what there was before would be taken for what there is. After a refusal it is asked for again.
    drop('me')
    start('enter', {
      method: 'POST',
      path,
      body,
      shape: path === '/tickets' ? 'ticket' : 'member',
      good: (answer: WireTicket & WireMember) => {
        entering = undefined
        if (path === '/tickets') setTicket(answer, true)
        else setMember(answer)
        doneAll('resume')
        doneAll('group')
      },
      refused: (refusal) => {
        // What the player is in is taken up. If there is nothing any more, the refusal stands.
        const isBusy = refusal.code === 'player-busy' || refusal.code === 'player-playing'
        if (isBusy) entering = { refusal }
        else refuse(refusal)
        if (isBusy || waiting.resume.length > 0) lookUp()
      },
    })
  }

  /** The player is where they were before. */
  const refuse = (refusal: Refusal) => {
    entering = undefined
    failAll('search', refusal)
    failAll('group', refusal)
    doneAll('cancel')
  }

  const takeOut = () => {
    const path = ownPath()
    const asked = jobs.get('act')
    // The one that is under way asks for the same.
    if (asked?.method === 'DELETE' && asked.path === path) return
    start('act', {
      method: 'DELETE',
      path,
      good: () => leave('cancelled'),
      refused: (refusal) => {
        // What there was is gone, or a server was assigned meanwhile.
        if (refusal.status === 404) return leave('cancelled')
        failAll('cancel', refusal)
        lookUp()
      },
    })
  }

  const act = (command: number, job: Omit<Job, 'refused'>) => {
    // The player is to be taken out, whatever comes of this.
    if (isCancelling()) return fail(command, SUPERSEDED)
    const good = (answer: never) => {
      job.good(answer)
      doneAll('act')
    }
    start('act', { ...job, good, refused: (refusal) => failAll('act', refusal) })
    waiting.act.push(command)
  }

  const obey = (input: Extract<Input, { do: string }>) => {
    const { command } = input
    const isBusy = entering !== undefined || place.in !== 'nothing'
    switch (input.do) {
      case 'resume':
        // A create that is under way is not overtaken: whether it came about would never be known.
        if (entering !== undefined) return done(command)
        waiting.resume.push(command)
        return look()
      case 'play':
        // Whoever is in something goes on with that.
        waiting.search.push(command)
        return isBusy ? undefined : enter('/tickets', bodyOf(input.request))
      case 'group': {
        if (isBusy) return fail(command, BUSY)
        waiting.group.push(command)
        const { join } = input
        const path = join === undefined ? '/groups' : `/groups/${encodeURIComponent(join)}/members`
        return enter(path, { ...bodyOf(input.request), is_ready: false })
      }
      case 'ready': {
        if (place.in !== 'group') return fail(command, nothingTo('be ready for'))
        const { member } = place
        const good = (answer: WireMember) => {
          if (place.in === 'group' && place.member === member) setMember(answer)
        }
        const body = { is_ready: input.isReady }
        return act(command, { method: 'PATCH', path: ownPath(), body, shape: 'member', good })
      }
      case 'accept':
      case 'decline': {
        if (place.in !== 'ticket') return fail(command, nothingTo(input.do))
        const good = (answer: WireTicket) => setTicket(answer, false)
        return act(command, { method: 'POST', path: `${ownPath()}/${input.do}`, shape: 'ticket', good })
      }
      case 'cancel':
        if (!isBusy) return done(command)
        waiting.cancel.push(command)
        failAll('group', SUPERSEDED)
        if (place.in !== 'nothing') return takeOut()
        // Whether there is a ticket is known by the answer, or else by asking.
        if (jobs.get('enter')?.request !== undefined) return
        drop('enter')
        return look()
      case 'close':
        isClosed = true
        for (const kind of Object.keys(waiting) as Kind[]) failAll(kind, CLOSED)
        for (const slot of jobs.keys()) drop(slot)
        return done(command)
    }
  }

  /** Whether nothing waits for the answer: then it is asked again, since a token may be right later. */
  const isBackground = (slot: Slot, status: number) =>
    (slot === 'me' && waiting.resume.length === 0) || (slot === 'follow' && status === 401)

  const take = ({ answer, status, body, retryAfterMs = 0 }: Extract<Input, { answer: number }>) => {
    const found = [...jobs].find(([, job]) => job.request === answer)
    if (found === undefined) return
    const [slot, job] = found
    const isGood = status >= 200 && status < 300
    job.request = undefined
    // It counts as none. Whoever waits for this answer alone is told.
    const isWrong = isGood && job.shape !== undefined && !fits(job.shape, body)
    if (isWrong && slot === 'me') failAll('resume', WRONG_ANSWER)
    if (isWrong && slot === 'act') failAll('act', WRONG_ANSWER)
    // Without a wish that waits for it, a token that is wrong may be right later.
    if (isWrong || isPassing(status) || (!isGood && isBackground(slot, status))) {
      setStale(staleSince ?? now)
      const longest = Math.min(FIRST_PAUSE_MS * 2 ** job.failures, LONGEST_PAUSE_MS)
      job.failures += 1
      // The next answer comes at once, and tells that the connection is back.
      if (slot === 'follow') job.path = job.path.replace(/\?.*/, '')
      job.waitMs = 0
      job.dueAt = now + Math.max(Math.min(retryAfterMs, LONGEST_RETRY_MS), Math.round(random() * longest))
      if (slot === 'enter' && isCancelling()) {
        drop('enter')
        lookUp()
      }
      return
    }
    jobs.delete(slot)
    setStale(undefined)
    if (isGood) return job.good(body as never)
    job.refused(refusalOf({ status, body, retryAfterMs }))
  }

  return {
    step: (input, at) => {
      // A timer may fire a fraction of a millisecond early, and there is no other.
      now = Math.max(now, at, 'wake' in input && wakeAt !== null ? wakeAt : at)
      out = []
      if (isClosed && 'do' in input) fail(input.command, CLOSED)
      if (isClosed) return out
      if ('do' in input) obey(input)
      else if ('answer' in input) take(input)
      for (const job of jobs.values()) if (job.request === undefined && job.dueAt <= now) send(job)
      const due = [...jobs.values()].flatMap((job) => (job.request === undefined ? [job.dueAt] : []))
      const next = due.length === 0 ? null : Math.min(...due)
      if (next !== wakeAt) out.push({ wakeAt: next })
      wakeAt = next
      return out
    },
  }
}

const GET = { method: 'GET' } as const
const SUPERSEDED: Refusal = { status: 0, code: 'superseded', message: 'Another wish came before the answer.' }
const CLOSED: Refusal = { status: 0, code: 'closed', message: 'The client was closed.' }
const BUSY: Refusal = { status: 409, code: 'player-busy', message: 'The player is in something already.' }
const TOO_LATE: Refusal = { status: 409, code: 'player-playing', message: 'The player has a server already.' }

const bodyOf = ({ profile, profiles, attributes, roles }: PlayRequest) => ({
  profile,
  ...(profiles && { profiles }),
  ...(attributes && { attributes }),
  ...(roles && { roles }),
})

const nothingTo = (verb: string): Refusal => ({ status: 0, code: 'nothing', message: `There is nothing to ${verb}.` })
