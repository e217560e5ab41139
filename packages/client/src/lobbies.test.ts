import { Conflict, createClient, InvalidInput } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import {
  createLobbies as createLobbyService,
  createLobbyApi,
  createRelaySessions,
  type LobbiesOptions,
  type LobbyMatchmaker,
} from '@muster/relay'
import { afterEach, expect, test } from 'vitest'
import { createLobbies } from './lobbies.js'
import { createMuster, type MusterOptions } from './muster.js'
import type { MusterError } from './refusal.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Serves the lobby API over the emulator's relay. Only the service uses the network. */
async function open(options: Partial<LobbiesOptions> = {}) {
  const emulator = createEmulator({ limits: false, page: false, speed: 50 })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: 'dev' })
  const relay = createRelaySessions({ client: client.relays })
  const service = createLobbyService({ relay, ...options })
  const api = createLobbyApi(service, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : { id }
    },
  })
  ends.push(
    () => emulator.close(),
    () => client.close(),
    () => relay.close(),
    () => service.close(),
  )
  let isDown = false
  let cutting = new AbortController()
  let isCaught = false
  let caught = 0
  /** @param answered awaited before each answer arrives */
  const connect = (
    player: string,
    more: Partial<MusterOptions> = {},
    urlOf = (url: string) => url,
    answered = async (_method: string, _url: string) => {},
  ) => {
    const muster = createMuster({
      url: 'http://play.example',
      token: player,
      follow: 'poll',
      random: () => 0.1,
      fetch: async (input, init) => {
        if (isDown) throw new TypeError('offline')
        if (isCaught) {
          caught += 1
          return new Response('<html>Who are you?</html>', { status: 401 })
        }
        const address = `192.0.2.${player.length}`
        const signal = AbortSignal.any([cutting.signal, init?.signal as AbortSignal])
        const lost = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        const request = new Request(urlOf(String(input)), { ...(init as RequestInit), signal })
        const answer = await Promise.race([api(request, { remoteAddress: address }), lost])
        await answered(request.method, request.url)
        return answer
      },
      ...more,
    })
    ends.push(() => muster.close())
    const lobbies = createLobbies(muster)
    return lobbies
  }
  /**
   * Makes a login page answer all requests (`true`) or none (`false`). Returns the number of requests that it has
   * answered.
   */
  const login = (is = isCaught) => {
    isCaught = is
    return caught
  }
  /** Cuts the connections of all clients, or lets them connect again. */
  const cut = (down: boolean) => {
    isDown = down
    if (down) cutting.abort(new TypeError('offline'))
    else cutting = new AbortController()
  }
  return { connect, login, cut }
}

test('members join a lobby by its code, and each gets their own relay connection at the start', async () => {
  const { connect } = await open()
  const ann = await connect('ann').create({ maxPlayers: 4, visibility: 'private', data: { map: 'ice' } })
  ends.push(() => ann.close())
  expect(ann.state).toMatchObject({ phase: 'open', hostId: 'ann', data: { map: 'ice' }, relay: null, left: null })
  const ben = await connect('benny').join(ann.state.code)
  ends.push(() => ben.close())
  await expect.poll(() => ann.state.members.map(({ playerId }) => playerId)).toEqual(['ann', 'benny'])
  await ben.ready()
  await ann.ready()
  await ann.setData({ map: 'fire' })
  await expect.poll(() => ben.state.data).toEqual({ map: 'fire' })
  const seen: string[] = []
  const end = ben.subscribe(({ phase }) => seen.push(phase))
  await ann.start()
  await expect.poll(() => [ann.state.relay?.role, ben.state.relay?.role]).toEqual(['host', 'client'])
  expect(ann.state.relay?.userToken).not.toBe(ben.state.relay?.userToken)
  expect(ann.state.relay?.sessionToken).toBe(ben.state.relay?.sessionToken)
  expect(seen.at(-1)).toBe('running')
  end()
  expect(Object.isFrozen(ben.state)).toBe(true)
})

test('a host can transfer the role, kick a member and leave, and the kicked member is notified', async () => {
  const { connect } = await open()
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const ben = await connect('benny').join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  await expect(ben.kick('ann')).rejects.toMatchObject({ name: 'MusterError', status: 403 })
  await ann.handOver('benny')
  await expect.poll(() => ben.state.hostId).toBe('benny')
  await ben.kick('ann')
  await expect.poll(() => ann.state).toMatchObject({ phase: 'closed', left: 'kicked' })
  await ben.leave()
  expect(ben.state).toMatchObject({ phase: 'closed', left: 'left' })
  await expect(connect('ann').open(ben.state.id)).rejects.toMatchObject({ status: 404 })
  await expect(connect('ann').join('nowhere')).rejects.toMatchObject({ name: 'MusterError' })
})

test('a proxy that answers lobby long polls at once is polled once a second', async () => {
  const { connect } = await open()
  const clock = createManualClock()
  let polls = 0
  const atOnce = (url: string) => {
    if (url.includes('/events')) polls += 1
    return url.replace('wait=25', 'wait=0')
  }
  const ann = await connect('ann', { clock }, atOnce).create({ maxPlayers: 4, visibility: 'private' })
  ends.push(() => ann.close())
  // The first poll reads the present state, and each further poll waits for a change.
  for (const wanted of [2, 3, 4]) {
    await expect.poll(() => polls).toBe(wanted)
    await clock.advance(1000)
  }
})

test('a lobby client reconnects after a lost connection, and then shows the changes that it missed', async () => {
  const { connect, cut } = await open()
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const ben = await connect('benny').join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  await expect.poll(() => ann.state.members).toHaveLength(2)
  cut(true)
  await expect(ben.ready()).rejects.toMatchObject({ status: 0, code: 'offline' })
  cut(false)
  await ben.ready()
  await expect.poll(() => ann.state.members.find(({ playerId }) => playerId === 'benny')?.ready).toBe(true)
  const again = await connect('benny').open(ann.state.id)
  ends.push(() => again.close())
  expect(again.state.members).toHaveLength(2)
})

test('a lobby client stays connected while a network’s login page answers its requests with 401', async () => {
  const { connect, login } = await open()
  const clock = createManualClock()
  const ann = await connect('ann').create({ maxPlayers: 4, visibility: 'private' })
  const ben = await connect('benny', { clock }, (url) => url.replace('wait=25', 'wait=0')).join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  await expect.poll(() => ann.state.members).toHaveLength(2)
  login(true)
  await expect
    .poll(async () => {
      await clock.advance(1000)
      return login()
    })
    .toBeGreaterThan(0)
  login(false)
  expect(ben.state).toMatchObject({ phase: 'open', left: null })
  await ann.setData({ map: 'fire' })
  await expect
    .poll(async () => {
      await clock.advance(1000)
      return ben.state.data
    })
    .toEqual({ map: 'fire' })
})

test('a lobby client whose device slept for a minute takes its slot in the lobby again', async () => {
  const clock = createManualClock()
  const { connect, cut } = await open({ clock })
  const ann = await connect('ann').create({ maxPlayers: 4 })
  ends.push(() => ann.close())
  cut(true)
  await clock.advance(60_000)
  cut(false)
  const ready = () =>
    ann.ready().then(
      () => 'ready',
      (error: unknown) => (error as MusterError).code,
    )
  expect(await ready()).toBe('away')
  await expect.poll(ready).toBe('ready')
  cut(true)
  await clock.advance(60_000)
  ann.close()
  cut(false)
  const again = await connect('ann').open(ann.state.id)
  ends.push(() => again.close())
  await expect.poll(() => again.state.members[0]?.present).toBe(true)
})

test('the late answer to a command does not undo later changes of the lobby', async () => {
  const { connect } = await open()
  let arrive = () => {}
  const late = new Promise<void>((resolve) => (arrive = resolve))
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const ben = await connect(
    'benny',
    {},
    (url) => url,
    async (method) => {
      if (method === 'PUT') await late
    },
  ).join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  const ready = ben.ready()
  await expect.poll(() => ben.state.members[1]?.ready).toBe(true)
  await ann.setData({ map: 'fire' })
  await expect.poll(() => ben.state.data).toEqual({ map: 'fire' })
  arrive()
  await ready
  expect(ben.state.data).toEqual({ map: 'fire' })
})

test('a late read of a lobby does not undo the answer to a command', async () => {
  const { connect } = await open()
  let arrive = () => {}
  const late = new Promise<void>((resolve) => (arrive = resolve))
  let isSlow = false
  let reads = 0
  const answered = async (method: string, url: string) => {
    if (!isSlow || method !== 'GET' || url.includes('/events')) return
    reads += 1
    await late
  }
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const ben = await connect('benny', {}, (url) => url, answered).join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  await expect.poll(() => ann.state.members).toHaveLength(2)
  isSlow = true
  await ann.setData({ map: 'fire' })
  await expect.poll(() => reads).toBe(1)
  await ben.ready()
  const shown: unknown[] = []
  ben.subscribe(({ members }) => shown.push(members[1]?.ready))
  isSlow = false
  arrive()
  await ann.setData({ map: 'ice' })
  await expect.poll(() => ben.state.data).toEqual({ map: 'ice' })
  expect(shown.every((isReady) => isReady === true)).toBe(true)
})

test('a player leaves a lobby though the answer to the first request was lost', async () => {
  const { connect } = await open()
  let isLost = true
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const ben = await connect(
    'benny',
    {},
    (url) => url,
    async (method, url) => {
      // All other requests of this client are lost, so no event tells it that it has left the lobby.
      if (isLost && (method === 'DELETE' || url.includes('/events'))) throw new TypeError('offline')
    },
  ).join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  await expect(ben.leave()).rejects.toMatchObject({ code: 'offline' })
  isLost = false
  await ben.leave()
  expect(ben.state).toMatchObject({ phase: 'closed', left: 'left' })
})

test('a lobby client whose long polls Muster supersedes waits a second before the next one', async () => {
  const { connect } = await open()
  const clock = createManualClock()
  const ann = await connect('ann').create({ maxPlayers: 4 })
  let polls = 0
  const fetch = async (url: string | URL | Request) => {
    if (!String(url).includes('/events')) return Response.json({ ...ann.state, lobbyId: ann.state.id })
    polls += 1
    return Response.json({ code: 'superseded', message: 'You opened more streams than allowed.' }, { status: 409 })
  }
  const again = await connect('ann', { clock, fetch }).open(ann.state.id)
  ends.push(
    () => ann.close(),
    () => again.close(),
  )
  await clock.advance(10_000)
  expect(polls).toBeGreaterThan(8)
  expect(polls).toBeLessThan(12)
})

test('a lobby client shows the lobby as it is after the store has lost its newest changes', async () => {
  const { connect } = await open()
  const ann = await connect('ann').create({ maxPlayers: 4 })
  const lobby = { ...ann.state, lobbyId: ann.state.id }
  let isLost = false
  const fetch = async (url: string | URL | Request) => {
    const { pathname, searchParams } = new URL(String(url))
    if (pathname.endsWith('/heartbeat')) return new Response(null, { status: 204 })
    if (!pathname.endsWith('/events'))
      return Response.json({ ...lobby, ...(isLost ? { cursor: 4, data: { map: 'ice' } } : { cursor: 9, data: {} }) })
    // Muster answers a cursor that is not of the lobby with a snapshot.
    isLost = searchParams.get('after') !== null
    const messages = searchParams.get('after') === '9' ? [{ type: 'snapshot' }] : []
    return Response.json({ messages, cursor: isLost ? 4 : 9, over: false })
  }
  const again = await connect('ann', { clock: createManualClock(), fetch }).open(ann.state.id)
  ends.push(
    () => ann.close(),
    () => again.close(),
  )
  await expect.poll(() => again.state.data).toEqual({ map: 'ice' })
})

test('members of a lobby learn why its start failed, until it starts again', async () => {
  let fault: Error | undefined = new InvalidInput('players: must be at most 1, got 2', { field: 'players' })
  const matchmaker: LobbyMatchmaker = {
    handOver: ({ key }) => (fault === undefined ? Promise.resolve({ reference: key }) : Promise.reject(fault)),
    withdraw: async () => {},
  }
  const { connect } = await open({ relay: undefined, matchmaker })
  const ann = await connect('ann').create({ maxPlayers: 4, requireReady: false })
  const ben = await connect('benny').join(ann.state.code)
  ends.push(
    () => ann.close(),
    () => ben.close(),
  )
  expect(ann.state.failed).toBeNull()
  const phases: string[] = []
  ben.subscribe(({ phase }) => phases.push(phase))
  await ann.start()
  const failed = 'InvalidInput: players: must be at most 1, got 2'
  await expect
    .poll(() => [ann.state, ben.state])
    .toMatchObject([
      { phase: 'open', failed },
      { phase: 'open', failed },
    ])
  fault = new Conflict('Player "benny" is on cooldown.')
  await ann.start()
  await expect.poll(() => ben.state).toMatchObject({ phase: 'open', failed: 'Conflict' })
  fault = undefined
  await ann.start()
  await expect
    .poll(() => [ann.state, ben.state])
    .toMatchObject([
      { phase: 'running', failed: null },
      { phase: 'running', failed: null },
    ])
})
