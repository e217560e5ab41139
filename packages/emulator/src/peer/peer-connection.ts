import type { Socket } from 'node:dgram'
import { systemClock } from '@muster/core/clock'
import { dataPacket, MAX_PAYLOAD, pingPacket, readRelayed, type Side } from '../relay-data/packet.js'
import { createListeners } from './listeners.js'
import { PeerError } from './peer-error.js'
import type { PeerOptions } from './peer-options.js'
import { openPeerSocket } from './peer-socket.js'
import { peerStateOf, problemOf, type PeerState } from './peer-state.js'

/** What host and client peers have in common. */
export interface PeerConnection<Message> {
  readonly state: PeerState
  /**
   * Connects. Resolves when the relay has found the peer valid. A peer that is disconnected, invalid or in error may
   * connect again.
   * @param options.signal cancels connecting; no effect once connected.
   * @throws PeerError (`invalid`, `session timed out`, `error`, `no answer`, `unreachable`, `closed`), or the signal's
   *   reason.
   */
  connect(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Adds a listener to be called with each new state. Returns a function that removes it. */
  onState(listener: (state: PeerState) => void): () => void
  /**
   * Adds a listener to be called with each message, whose data the listener may keep. Returns a function that removes
   * it.
   */
  onMessage(listener: (message: Message) => void): () => void
  /**
   * Closes the connection. The protocol has no message for that, so the relay ends the connection after 10 s of
   * silence.
   */
  close(): void
}

/** One connection, from `connect` until it fails or ends. */
interface Line {
  /** Aborted, with the reason, when the connection ends. */
  readonly ended: AbortController
  socket: Socket | undefined
  /** Whether the peer has been valid on this connection. */
  admitted: boolean
  /** When the relay last sent anything but `checking`. */
  heardAt: number
}

/**
 * Creates what host and client peers have in common.
 * @param messageOf makes a listener's message from a connection id and data.
 */
export function createPeerConnection<Message>(
  options: PeerOptions,
  side: Side,
  messageOf: (data: Buffer, connectionId: number) => Message,
): { readonly connection: PeerConnection<Message>; readonly send: (data: Uint8Array, connectionId?: number) => void } {
  const { host, port, userToken, sessionToken, clock = systemClock, pingMs = 500, timeoutMs = 10_000 } = options
  const states = createListeners<PeerState>()
  const messages = createListeners<Message>()
  let state: PeerState = 'disconnected'
  let line: Line | undefined

  const become = (next: PeerState) => {
    if (next === state) return
    state = next
    states.tell(next)
  }

  const hangUp = (current: Line, next: PeerState, reason: unknown) => {
    if (line !== current) return
    line = undefined
    current.socket?.close()
    current.ended.abort(reason)
    become(next)
  }

  const hear = (current: Line, datagram: Buffer) => {
    const heard = readRelayed(datagram, side)
    if (heard?.kind === 'state') onAnswer(current, peerStateOf(heard.state))
    if (heard?.kind !== 'data') return
    current.heardAt = clock.now()
    messages.tell(messageOf(heard.payload, heard.connectionId))
  }

  const onAnswer = (current: Line, answer: PeerState) => {
    if (answer !== 'checking') current.heardAt = clock.now()
    if (answer === 'valid') current.admitted = true
    const problem = problemOf(answer)
    // A client that was valid before keeps pinging, because its host may come back.
    const waits = answer === 'timed out' && current.admitted
    if (problem === undefined || waits) become(answer)
    else hangUp(current, answer, problem)
  }

  const keepPinging = async (current: Line, socket: Socket) => {
    const ping = pingPacket(userToken, sessionToken)
    const { signal } = current.ended
    while (!signal.aborted) {
      if (clock.now() - current.heardAt >= timeoutMs) {
        return hangUp(
          current,
          'disconnected',
          new PeerError('no answer', 'the relay does not answer, or goes on checking'),
        )
      }
      socket.send(ping)
      await clock.sleep(pingMs, signal).catch(() => {})
    }
  }

  /** Resolves when the peer is valid; rejects with the reason if the connection ends first. */
  const admitted = ({ ended: { signal } }: Line) =>
    new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const stop = states.add((next) => {
        if (next === 'checking') return
        stop()
        if (next === 'valid') resolve()
      })
    })

  const connect = async ({ signal }: { readonly signal?: AbortSignal | undefined } = {}) => {
    signal?.throwIfAborted()
    if (line !== undefined) throw new Error('the peer is connected already, or connecting')
    const current: Line = { ended: new AbortController(), socket: undefined, admitted: false, heardAt: clock.now() }
    line = current
    const abort = () => hangUp(current, 'disconnected', signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    become('checking')
    try {
      const socket = await openPeerSocket(host, port)
      if (current.ended.signal.aborted) {
        socket.close()
        throw current.ended.signal.reason
      }
      current.socket = socket.on('message', (datagram) => hear(current, datagram))
      const decision = admitted(current)
      void keepPinging(current, socket)
      await decision
    } catch (error) {
      hangUp(current, 'disconnected', error)
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  const send = (data: Uint8Array, connectionId?: number) => {
    if (data.length > MAX_PAYLOAD) throw new RangeError(`data must be at most ${MAX_PAYLOAD} bytes, got ${data.length}`)
    if (state !== 'valid') throw new PeerError('not valid', `data cannot be sent while the peer is ${state}`)
    line?.socket?.send(dataPacket(userToken, sessionToken, data, connectionId))
  }

  return {
    send,
    connection: {
      get state() {
        return state
      },
      connect,
      onState: states.add,
      onMessage: messages.add,
      close: () => {
        if (line !== undefined) hangUp(line, 'disconnected', new PeerError('closed', 'the peer has been closed'))
      },
    },
  }
}
