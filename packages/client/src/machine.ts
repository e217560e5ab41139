import { FIRST_PAUSE_MS, isPassing, LONGEST_PAUSE_MS, LONGEST_RETRY_MS, SAME_POLL_MS } from './connection.js'
import { type Refusal, refusalOf, WRONG_ANSWER } from './refusal.js'
import { fits } from './shapes.js'
import type { PlayRequest, State } from './state.js'
import { assignmentOf, type WireGroup, type WireMember, type WirePlayer, type WireTicket } from './wire.js'

/**
 * The client's logic, without a connection. Its inputs are responses, commands and the time. Its outputs are requests
 * and states. It reads no clock, sends nothing and draws no random numbers. So the engines have the same machine in
 * their own languages, and all of them replay one transcript (engines/README.md).
 */
export interface Machine {
  /** Handles an input, and returns the outputs. @param now milliseconds of any clock that does not go backwards */
  step(input: MachineInput, now: number): readonly Output[]
}

/**
 * Each command of the game has a number. Its outcome is reported exactly once, with that number, at `close` at the
 * latest.
 */
export type MachineInput =
  | { readonly do: 'resume' | 'cancel' | 'accept' | 'decline'; readonly command: number }
  | { readonly do: 'play'; readonly command: number; readonly request: PlayRequest }
  | { readonly do: 'group'; readonly command: number; readonly request: PlayRequest; readonly join?: string }
  | { readonly do: 'ready'; readonly command: number; readonly isReady: boolean }
  | { readonly do: 'close'; readonly command: number }
  /** The response to a request. Status 0: no response arrived, or the response was not from Muster. */
  | { readonly answer: number; readonly status: number; readonly body?: unknown; readonly retryAfterMs?: number }
  /** The time of `wakeAt` has come. */
  | { readonly wake: true }

export type Output =
  /** A request to send. `waitMs` is how long Muster may hold the response, in addition to the usual time. */
  | {
      readonly request: number
      readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
      readonly path: string
      readonly body?: object
      readonly waitMs: number
    }
  /** Aborts a request, because its response is no longer needed. */
  | { readonly abort: number }
  /** When to send the next `wake`. The time replaces the previous one. Null: no `wake` is needed. */
  | { readonly wakeAt: number | null }
  | { readonly state: State }
  /** A command has succeeded, e.g. a search has a server, or the player has left. */
  | { readonly done: number }
  | { readonly failed: number; readonly refusal: Refusal }

/** Seconds for which Muster holds a long poll. Proxies cut connections that are silent for longer. */
const WAIT_SECONDS = 25
/** Milliseconds between two reads of a group that waits for its members. */
const GATHER_MS = 1000

interface Job {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  readonly body?: object
  waitMs?: number
  /** The type of a successful response; undefined if any response will do. */
  readonly shape?: string
  readonly good: (body: never) => void
  readonly refused: (refusal: Refusal) => void
}

interface Sent extends Job {
  /** The number of the request in flight; undefined before it is sent. */
  request: number | undefined
  /** When the request is sent, or sent again. */
  dueAt: number
  failures: number
}

type RequestSlot = 'me' | 'enter' | 'follow' | 'act'
type CommandKind = 'resume' | 'search' | 'group' | 'cancel' | 'act'

/** Whether the player is in a ticket, a group or nothing, as far as it is known. */
type Participation =
  | { readonly in: 'nothing' }
  | { readonly in: 'group'; readonly group: string; readonly member: string }
  | { readonly in: 'ticket'; readonly ticket: string; readonly version: number; readonly match: string | null }

const NOWHERE: Participation = { in: 'nothing' }
const IDLE: State = Object.freeze({ phase: 'idle' })

/**
 * Creates a machine. It is a closure and not a class, because private members compile to maps in ES2020. These would
 * take 700 of the client's 8,000 bytes of gzip (bundle.test.ts).
 * @param random from 0 to 1: spreads requests that many clients would otherwise send at the same moment
 */
export function createMachine(random: () => number): Machine {
  const jobs = new Map<RequestSlot, Sent>()
  let out: Output[] = []
  let now = 0
  let requests = 0
  let state: State = IDLE
  let staleSince: number | undefined
  let place: Participation = NOWHERE
  /** Commands without an outcome, by the event that ends them. All commands of one kind end together. */
  const waiting: Record<CommandKind, number[]> = {
    /** These commands end once it is known whether the player is in a ticket, group or match. */
    resume: [],
    /** These commands end with a server, or with the end of the search. */
    search: [],
    /** These commands end with a group. */
    group: [],
    /** These commands end once the player has left the ticket or the group. */
    cancel: [],
    /** These commands end with the response to the job `act`, which sends a command such as accepting a match. */
    act: [],
  }
  /**
   * Set while the outcome of a create is unknown. Either no response has arrived yet, or the create was refused because
   * the player already has a ticket, group or match.
   */
  let entering: { readonly refusal?: Refusal } | undefined
  /** The path of the latest long poll, and the time at which it was or will be sent. */
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

  const drop = (slot: RequestSlot) => {
    const job = jobs.get(slot)
    if (job?.request !== undefined) out.push({ abort: job.request })
    jobs.delete(slot)
    if (slot === 'act') failAll('act', SUPERSEDED)
  }
  const start = (slot: RequestSlot, job: Job, inMs = 0) => {
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
  const doneAll = (kind: CommandKind) => waiting[kind].splice(0).forEach(done)
  const failAll = (kind: CommandKind, refusal: Refusal) =>
    waiting[kind].splice(0).forEach((command) => fail(command, refusal))
  const isCancelling = () => waiting.cancel.length > 0

  /** Records that the player is in no ticket, group or match any more. */
  const leave = (reason: string | undefined) => {
    for (const slot of ['follow', 'me'] as const) drop(slot)
    place = NOWHERE
    // A pending cancel is dropped, because its ticket has ended. A repeated request could cancel the player's next
    // ticket.
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
        resumeFrom(me, refusal)
        if (state.phase === 'gathering') doneAll('group')
        else if (refusal !== undefined) failAll('group', refusal)
        doneAll('resume')
      },
      refused: (refusal) => {
        failAll('resume', refusal)
        // The create or a command still needs to know what the player is in.
        if (entering !== undefined || (place.in !== 'nothing' && !jobs.has('follow'))) lookUp()
      },
    })
  /** Looks up what the player is in, unless a lookup is in flight, which then serves this request too. */
  const ensureLookup = () => (jobs.get('me')?.request === undefined ? lookUp() : undefined)

  /** Continues with what the player is in. @param refusal shown if the player has no ticket, group or seat */
  const resumeFrom = (me: WirePlayer, refusal?: Refusal) => {
    const match = me.matches.find(({ assignment }) => assignment)
    const seat = me.seats?.find(({ assignment }) => assignment)
    const ticket = me.tickets.find(({ status, ended }) => status !== 'CANCELLED' && !ended)
    const gathering = me.groups.find(({ status }) => status === 'FORMING')
    // An assignment comes first, because a player in a running match has a ticket too.
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

  /**
   * Applies a version of a ticket. @param isFollowed true if the player is in this ticket; false if the ticket is in
   * the response to another request
   */
  const setTicket = (ticket: WireTicket, isFollowed: boolean) => {
    if (place.in === 'ticket' && (place.ticket !== ticket.id || ticket.version < place.version)) return follow()
    if (!isFollowed && place.in !== 'ticket') return
    const isNew = place.in !== 'ticket' || ticket.version > place.version
    place = { in: 'ticket', ticket: ticket.id, version: ticket.version, match: ticket.match_id ?? null }
    const known = { id: ticket.id, queue: ticket.profile, groupId: ticket.group_id ?? null }
    const { status, acceptance, estimated_wait: wait, assignment, ended } = ticket
    if (status === 'CANCELLED') return leave(ticket.cancel_reason ?? 'cancelled')
    if (ended) return leave(ended.reason)
    if (status === 'HOST_ASSIGNED' && assignment) return assigned(ticket.match_id ?? null, assignment)
    if (isCancelling()) return cancelCurrent()
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
    // The poll in flight has the same path, so no other is needed.
    if (jobs.get('follow')?.path === path) return
    const good = (answer: WireTicket) => setTicket(answer, true)
    const inMs = polled?.path === path ? Math.max(0, polled.at + SAME_POLL_MS - now) : 0
    polled = { path, at: now + inMs }
    start('follow', { ...GET, path, shape: 'ticket', waitMs, good, refused: lookUp }, inMs)
  }

  const setMember = (member: WireMember) => {
    place = { in: 'group', group: member.group_id, member: member.member_id }
    if (isCancelling()) return cancelCurrent()
    if (typeof member.ticket_id === 'string') return openTicket(member.ticket_id)
    if (member.status === 'CANCELLED') return leave('cancelled')
    const known = state.phase === 'gathering' && state.group.id === member.group_id ? state.group : undefined
    const { members = [], waitingFor = [] } = known ?? {}
    show({ phase: 'gathering', group: { id: member.group_id, isReady: member.is_ready, members, waitingFor } })
    gather(0)
  }

  /** Returns the path of the ticket, or of the player in the group; empty if there is neither. */
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
        return start('follow', { ...GET, path: ownPath(), shape: 'member', good: setMember, refused: lookUp })
      if (state.phase === 'gathering') {
        const members = answer.members.map(({ player_id, is_ready }) => ({ playerId: player_id, isReady: is_ready }))
        const waitingFor = members.flatMap(({ playerId, isReady }) => (isReady ? [] : [playerId]))
        show({ phase: 'gathering', group: { ...state.group, members, waitingFor } })
      }
      gather(GATHER_MS)
    }
    const path = `/groups/${encodeURIComponent(group)}`
    start('follow', { ...GET, path, shape: 'group', good, refused: lookUp }, inMs)
  }

  const openTicket = (ticket: string) => {
    const good = (answer: WireTicket) => {
      place = NOWHERE
      setTicket(answer, true)
    }
    const path = `/tickets/${encodeURIComponent(ticket)}`
    start('follow', { ...GET, path, shape: 'ticket', good, refused: lookUp })
  }

  const enter = (path: string, body: object) => {
    entering = {}
    // A running lookup is dropped, because its response could describe the state before this create. If the create is
    // refused, a new lookup follows.
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
        // A busy player continues with the present ticket, group or match. The refusal is shown only if there is none
        // any more.
        const isBusy = refusal.code === 'player-busy' || refusal.code === 'player-playing'
        if (isBusy) entering = { refusal }
        else refuse(refusal)
        if (isBusy || waiting.resume.length > 0) lookUp()
      },
    })
  }

  /** Shows a refusal. The player's state stays unchanged. */
  const refuse = (refusal: Refusal) => {
    entering = undefined
    failAll('search', refusal)
    failAll('group', refusal)
    doneAll('cancel')
  }

  const cancelCurrent = () => {
    const path = ownPath()
    const running = jobs.get('act')
    // A cancel for the same path is already in flight.
    if (running?.method === 'DELETE' && running.path === path) return
    start('act', {
      method: 'DELETE',
      path,
      good: () => leave('cancelled'),
      refused: (refusal) => {
        // A 404 means that the ticket has ended. After any other refusal, a server may have been assigned meanwhile.
        if (refusal.status === 404) return leave('cancelled')
        failAll('cancel', refusal)
        lookUp()
      },
    })
  }

  const act = (command: number, job: Omit<Job, 'refused'>) => {
    // While a cancel runs, other commands fail, because the player will be removed in any case.
    if (isCancelling()) return fail(command, SUPERSEDED)
    const good = (answer: never) => {
      job.good(answer)
      doneAll('act')
    }
    start('act', { ...job, good, refused: (refusal) => failAll('act', refusal) })
    waiting.act.push(command)
  }

  const runCommand = (input: Extract<MachineInput, { do: string }>) => {
    const { command } = input
    const isBusy = entering !== undefined || place.in !== 'nothing'
    switch (input.do) {
      case 'resume':
        // A pending create is not aborted, because its outcome would then stay unknown.
        if (entering !== undefined) return done(command)
        waiting.resume.push(command)
        return ensureLookup()
      case 'play':
        // If the player already has a ticket, group or match, the search continues with that.
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
        // A repeated request must not answer the ticket's next match, which the player has not seen.
        const seen = place.match !== null && { body: { match_id: place.match } }
        return act(command, { method: 'POST', path: `${ownPath()}/${input.do}`, ...seen, shape: 'ticket', good })
      }
      case 'cancel':
        if (!isBusy) return done(command)
        waiting.cancel.push(command)
        failAll('group', SUPERSEDED)
        if (place.in !== 'nothing') return cancelCurrent()
        // The response to the create, or a lookup, will show whether the player has a ticket.
        if (jobs.get('enter')?.request !== undefined) return
        drop('enter')
        return ensureLookup()
      case 'close':
        isClosed = true
        for (const kind of Object.keys(waiting) as CommandKind[]) failAll(kind, CLOSED)
        for (const slot of jobs.keys()) drop(slot)
        return done(command)
    }
  }

  /**
   * Returns true if no command waits for the response. The request is then repeated, because a token may be valid
   * later.
   */
  const isBackground = (slot: RequestSlot, status: number) =>
    (slot === 'me' && waiting.resume.length === 0) || (slot === 'follow' && status === 401)

  const handleAnswer = ({ answer, status, body, retryAfterMs = 0 }: Extract<MachineInput, { answer: number }>) => {
    const found = [...jobs].find(([, job]) => job.request === answer)
    if (found === undefined) return
    const [slot, job] = found
    const isGood = status >= 200 && status < 300
    job.request = undefined
    // A wrong response counts as none. A command that waits for exactly this response fails.
    const isWrong = isGood && job.shape !== undefined && !fits(job.shape, body)
    if (isWrong && slot === 'me') failAll('resume', WRONG_ANSWER)
    if (isWrong && slot === 'act') failAll('act', WRONG_ANSWER)
    // A refused token is retried if no command waits for the response, because the token may be valid later.
    if (isWrong || isPassing(status) || (!isGood && isBackground(slot, status))) {
      setStale(staleSince ?? now)
      const longest = Math.min(FIRST_PAUSE_MS * 2 ** job.failures, LONGEST_PAUSE_MS)
      job.failures += 1
      // The next poll requests the current version without a wait. Its response shows that the connection is restored.
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
      // Time is moved on to `wakeAt`, because a timer may fire a fraction of a millisecond early, and it fires only
      // once.
      now = Math.max(now, at, 'wake' in input && wakeAt !== null ? wakeAt : at)
      out = []
      if (isClosed && 'do' in input) fail(input.command, CLOSED)
      if (isClosed) return out
      if ('do' in input) runCommand(input)
      else if ('answer' in input) handleAnswer(input)
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
const SUPERSEDED: Refusal = {
  status: 0,
  code: 'superseded',
  message: 'Another command replaced this one before Muster answered.',
}
const CLOSED: Refusal = { status: 0, code: 'closed', message: 'The client was closed.' }
const BUSY: Refusal = { status: 409, code: 'player-busy', message: 'The player already has a ticket, group or match.' }
const TOO_LATE: Refusal = { status: 409, code: 'player-playing', message: 'The player has a server already.' }

const bodyOf = ({ profile, profiles, attributes, roles }: PlayRequest) => ({
  profile,
  ...(profiles && { profiles }),
  ...(attributes && { attributes }),
  ...(roles && { roles }),
})

const nothingTo = (verb: string): Refusal => ({ status: 0, code: 'nothing', message: `There is nothing to ${verb}.` })
