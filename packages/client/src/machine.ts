import { FIRST_PAUSE_MS, isPassing, LONGEST_PAUSE_MS } from './connection.js'
import { type Refusal, refusalOf } from './refusal.js'
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

/** A wish of the game has a number, by which it is told what came of it. */
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
  /** The wish for which it is done; it fails with the job. */
  readonly command?: number
  readonly good: (body: never) => void
  /** What a refusal means. Default: the wish has failed. */
  readonly refused?: (refusal: Refusal) => void
}

interface Sent extends Job {
  /** Of the request that is under way. */
  request: number | undefined
  /** When it is sent (again). */
  dueAt: number
  failures: number
}

type Slot = 'me' | 'enter' | 'follow' | 'act'

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
  /** Wishes to know what the player is in: one look answers all of them. */
  const resuming: number[] = []
  /** The wish that ends with a server, or without. */
  let search: number | undefined
  /** What a search asks for if the player is in nothing. */
  let wanted: { readonly path: string; readonly body: object } | undefined
  /** The wish to be taken out of what there is, although that is not known yet. */
  let cancelling: number | undefined
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
  }
  const start = (slot: Slot, job: Job, inMs = 0) => {
    const before = jobs.get(slot)?.command
    drop(slot)
    fail(before, SUPERSEDED)
    jobs.set(slot, { ...job, request: undefined, dueAt: now + inMs, failures: 0 })
  }
  const send = (job: Sent) => {
    requests += 1
    job.request = requests
    const { method, path, body, waitMs = 0 } = job
    out.push({ request: requests, method, path, ...(body && { body }), waitMs })
  }

  const done = (command: number | undefined) => {
    if (command !== undefined) out.push({ done: command })
  }
  const fail = (command: number | undefined, refusal: Refusal) => {
    if (command !== undefined) out.push({ failed: command, refusal })
    if (command === search) search = undefined
  }

  const resumed = () => resuming.splice(0).forEach(done)

  /** What is to be cancelled is not there any more: a request that is repeated could cancel what comes next. */
  const endCancelling = (tell: () => void) => {
    if (cancelling === undefined) return
    drop('act')
    tell()
    cancelling = undefined
  }

  /** The player is in nothing any more. */
  const leave = (reason: string | undefined) => {
    for (const slot of ['follow', 'enter', 'me'] as const) drop(slot)
    place = NOWHERE
    wanted = undefined
    const wish = search
    search = undefined
    endCancelling(() => done(cancelling))
    show(reason === undefined ? IDLE : { phase: 'ended', reason })
    resumed()
    if (wish !== undefined) fail(wish, { status: 0, code: reason ?? 'gone', message: 'The search has ended.' })
  }

  /** @param nothing what to do if the player is in nothing; `after`: once it is shown what they are in */
  const lookUp = (nothing?: () => void, after?: () => void) =>
    start('me', {
      method: 'GET',
      path: '/me',
      good: (me: WirePlayer) => {
        takeUp(me, nothing)
        after?.()
        resumed()
      },
      refused: (refusal) => resuming.splice(0).forEach((command) => fail(command, refusal)),
    })

  const takeUp = (me: WirePlayer, nothing?: () => void) => {
    drop('enter')
    wanted = undefined
    const match = me.matches.find(({ assignment }) => assignment !== null)
    const seat = me.seats?.find(({ assignment }) => assignment !== null)
    const ticket = me.tickets.find(({ status, ended }) => status !== 'CANCELLED' && ended === undefined)
    const gathering = me.groups.find(({ status }) => status === 'FORMING')
    // What leads to a server comes first; a match that runs has a ticket as well.
    if (match?.assignment) return assigned(match.match_id, match.assignment)
    if (ticket !== undefined) {
      if (place.in !== 'ticket' || place.ticket !== ticket.id) place = NOWHERE
      return setTicket(ticket, true)
    }
    if (gathering !== undefined) return setMember(gathering)
    if (seat?.assignment) return assigned(null, seat.assignment)
    if (nothing !== undefined) return nothing()
    leave(
      place.in === 'nothing' && cancelling === undefined ? undefined : cancelling === undefined ? 'gone' : 'cancelled',
    )
  }

  const assigned = (matchId: string | null, assignment: Parameters<typeof assignmentOf>[0]) => {
    for (const slot of ['follow', 'enter'] as const) drop(slot)
    place = NOWHERE
    wanted = undefined
    show({ phase: 'assigned', matchId, assignment: assignmentOf(assignment) })
    endCancelling(() => fail(cancelling, TOO_LATE))
    done(search)
    search = undefined
  }

  /** @param isFollowed whether it is what the player is in, and not an answer to something else */
  const setTicket = (ticket: WireTicket, isFollowed: boolean) => {
    if (place.in === 'ticket' && (place.ticket !== ticket.id || ticket.version < place.version)) return
    if (!isFollowed && place.in !== 'ticket') return
    const isNew = place.in !== 'ticket' || ticket.version > place.version
    place = { in: 'ticket', ticket: ticket.id, version: ticket.version }
    const known = { id: ticket.id, queue: ticket.profile, groupId: ticket.group_id ?? null }
    const { status, acceptance, estimated_wait: wait, assignment, ended } = ticket
    if (status === 'CANCELLED') return leave(ticket.cancel_reason ?? 'cancelled')
    if (ended !== undefined) return leave(ended.reason)
    if (status === 'HOST_ASSIGNED' && assignment) return assigned(ticket.match_id ?? null, assignment)
    if (cancelling !== undefined) return cancelTicket(cancelling)
    if (isNew || isFollowed) {
      if (status === 'SEARCHING')
        show({
          phase: 'searching',
          ticket: known,
          wait: wait ? { p50Seconds: wait.p50_seconds, p90Seconds: wait.p90_seconds } : null,
        })
      else show({ phase: 'found', ticket: known, acceptance: acceptance ?? null })
    }
    follow()
  }

  const follow = () => {
    if (place.in !== 'ticket') return
    const { ticket, version } = place
    const waitMs = WAIT_SECONDS * 1000
    const path = `/tickets/${encodeURIComponent(ticket)}?wait=${WAIT_SECONDS}&version=${version}`
    // The one that is under way asks for the same.
    if (jobs.get('follow')?.path === path) return
    const good = (answer: WireTicket) => {
      setTicket(answer, true)
      follow()
    }
    start('follow', { method: 'GET', path, waitMs, good, refused: elsewhere })
  }

  /** What is known is not so any more. */
  const elsewhere = () => lookUp()

  const setMember = (member: WireMember) => {
    place = { in: 'group', group: member.group_id, member: member.member_id }
    if (cancelling !== undefined) return leaveGroup(cancelling)
    if (member.ticket_id !== null) return openTicket(member.ticket_id)
    if (member.status === 'CANCELLED') return leave('cancelled')
    const before = state.phase === 'gathering' && state.group.id === member.group_id ? state.group.members : []
    show({ phase: 'gathering', group: { id: member.group_id, isReady: member.is_ready, members: before } })
    gather(0)
  }

  const ownPlace = () =>
    place.in === 'group' ? `/groups/${encodeURIComponent(place.group)}/members/${encodeURIComponent(place.member)}` : ''

  const gather = (inMs: number) => {
    if (place.in !== 'group') return
    const { group } = place
    const good = (answer: WireGroup) => {
      if (place.in !== 'group' || place.group !== group) return
      if (answer.status !== 'FORMING')
        return start('follow', { method: 'GET', path: ownPlace(), good: setMember, refused: elsewhere })
      if (state.phase === 'gathering') {
        const members = answer.members.map(({ player_id, is_ready }) => ({ playerId: player_id, isReady: is_ready }))
        show({ phase: 'gathering', group: { ...state.group, members } })
      }
      gather(GATHER_MS)
    }
    start('follow', { method: 'GET', path: `/groups/${encodeURIComponent(group)}`, good, refused: elsewhere }, inMs)
  }

  const openTicket = (ticket: string) => {
    const good = (answer: WireTicket) => {
      place = NOWHERE
      setTicket(answer, true)
    }
    start('follow', { method: 'GET', path: `/tickets/${encodeURIComponent(ticket)}`, good, refused: elsewhere })
  }

  const enter = (command: number) => {
    if (wanted === undefined) return
    const { path, body } = wanted
    const isGroup = path.startsWith('/groups')
    // An answer about what there was before would be taken for what there is. After a refusal it is asked for again.
    const wasAsked = jobs.has('me')
    drop('me')
    start('enter', {
      method: 'POST',
      path,
      body,
      good: (answer: WireTicket & WireMember) => {
        wanted = undefined
        place = NOWHERE
        if (isGroup) setMember(answer)
        else setTicket(answer, true)
        resumed()
        if (isGroup && state.phase === 'gathering') done(command)
      },
      refused: (refusal) => {
        if (refusal.code !== 'player-busy' && refusal.code !== 'player-playing') {
          refuse(command, refusal)
          if (wasAsked) lookUp()
          return
        }
        // What the player is in is taken up. If there is nothing any more, the refusal stands.
        const shown = () => (state.phase === 'gathering' ? done(command) : fail(command, refusal))
        lookUp(() => refuse(command, refusal), isGroup ? shown : undefined)
      },
    })
  }

  /** The player is where they were before. */
  const refuse = (command: number, refusal: Refusal) => {
    wanted = undefined
    fail(command, refusal)
    done(cancelling)
    cancelling = undefined
  }

  const cancelTicket = (command: number) => {
    if (place.in !== 'ticket') return
    cancelling = command
    const path = `/tickets/${encodeURIComponent(place.ticket)}`
    start('act', { method: 'DELETE', path, good: () => leave('cancelled'), refused: notCancelled })
  }
  const leaveGroup = (command: number) => {
    cancelling = command
    start('act', { method: 'DELETE', path: ownPlace(), good: () => leave('cancelled'), refused: notCancelled })
  }
  /** What there was is gone, or a server was assigned meanwhile. */
  const notCancelled = (refusal: Refusal) => {
    if (refusal.status === 404) return leave('cancelled')
    fail(cancelling, refusal)
    cancelling = undefined
    lookUp()
  }

  const act = (command: number, verb: 'accept' | 'decline') => {
    if (place.in !== 'ticket') return fail(command, nothingTo(verb))
    const path = `/tickets/${encodeURIComponent(place.ticket)}/${verb}`
    const good = (answer: WireTicket) => {
      setTicket(answer, false)
      done(command)
    }
    start('act', { method: 'POST', path, command, good })
  }

  const obey = (input: Extract<Input, { do: string }>) => {
    const { command } = input
    switch (input.do) {
      case 'resume':
        // A create that is under way is not overtaken: whether it came about would never be known.
        if (wanted !== undefined) return done(command)
        resuming.push(command)
        return jobs.get('me')?.request === undefined ? lookUp() : undefined
      case 'play':
      case 'group': {
        const isBusy =
          search !== undefined || wanted !== undefined || state.phase === 'gathering' || state.phase === 'found'
        if (input.do === 'play') {
          // The same search, taken up: the newest wish is told how it ends.
          if (search !== undefined) done(search)
          search = command
          if (isBusy || state.phase === 'searching') return
          wanted = { path: '/tickets', body: bodyOf(input.request) }
        } else {
          if (isBusy || state.phase === 'searching')
            return fail(command, { status: 409, code: 'player-busy', message: 'The player is in something already.' })
          const { join } = input
          const path = join === undefined ? '/groups' : `/groups/${encodeURIComponent(join)}/members`
          wanted = { path, body: { ...bodyOf(input.request), is_ready: false } }
        }
        return enter(command)
      }
      case 'ready': {
        if (place.in !== 'group') return fail(command, nothingTo('be ready for'))
        const good = (answer: WireMember) => {
          setMember(answer)
          done(command)
        }
        return start('act', { method: 'PATCH', path: ownPlace(), body: { is_ready: input.isReady }, command, good })
      }
      case 'cancel':
        if (place.in === 'ticket') return cancelTicket(command)
        if (place.in === 'group') return leaveGroup(command)
        if (wanted === undefined) return done(command)
        cancelling = command
        // Whether there is a ticket is known by the answer, or else by asking.
        if (jobs.get('enter')?.request !== undefined) return
        drop('enter')
        return lookUp()
      case 'accept':
      case 'decline':
        return act(command, input.do)
      case 'close':
        isClosed = true
        for (const slot of jobs.keys()) drop(slot)
        return done(command)
    }
  }

  /** Whether nothing waits for the answer: then it is asked again, since a token may be right later. */
  const isBackground = (slot: Slot, status: number) =>
    (slot === 'me' && resuming.length === 0) || (slot === 'follow' && status === 401)

  const take = ({ answer, status, body, retryAfterMs = 0 }: Extract<Input, { answer: number }>) => {
    const found = [...jobs].find(([, job]) => job.request === answer)
    if (found === undefined) return
    const [slot, job] = found
    const isGood = status >= 200 && status < 300
    job.request = undefined
    // Without a wish that waits for it, a token that is wrong may be right later.
    if (isPassing(status) || (!isGood && isBackground(slot, status))) {
      setStale(staleSince ?? now)
      const longest = Math.min(FIRST_PAUSE_MS * 2 ** job.failures, LONGEST_PAUSE_MS)
      job.failures += 1
      // The next answer comes at once, and tells that the connection is back.
      if (slot === 'follow') job.path = job.path.replace(/\?.*/, '')
      job.waitMs = 0
      job.dueAt = now + Math.max(retryAfterMs, Math.round(random() * longest))
      if (slot === 'enter' && cancelling !== undefined) {
        drop('enter')
        lookUp()
      }
      return
    }
    jobs.delete(slot)
    setStale(undefined)
    if (isGood) return job.good(body as never)
    const refusal = refusalOf({ status, body, retryAfterMs })
    if (job.refused !== undefined) job.refused(refusal)
    else fail(job.command, refusal)
  }

  return {
    step: (input, at) => {
      // A timer may fire a fraction of a millisecond early, and there is no other.
      now = Math.max(now, at, 'wake' in input && wakeAt !== null ? wakeAt : at)
      out = []
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

const SUPERSEDED: Refusal = { status: 0, code: 'superseded', message: 'Another wish came before the answer.' }
const TOO_LATE: Refusal = { status: 409, code: 'player-playing', message: 'The player has a server already.' }

const bodyOf = ({ profile, profiles, attributes, roles }: PlayRequest) => ({
  profile,
  ...(profiles && { profiles }),
  ...(attributes && { attributes }),
  ...(roles && { roles }),
})

const nothingTo = (verb: string): Refusal => ({ status: 0, code: 'nothing', message: `There is nothing to ${verb}.` })
