import type { Leader } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import { decodeNotice, decodeReply, encode } from '../rpc.js'
import { createRpcServer } from './rpc-server.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const ask = (id: string, command: 'hint' | 'inspect' = 'hint', follower = 'a') =>
  encode({ id, again: false, front: follower, command, input: [id] })

function open(leader: Partial<Leader> = { hint: () => {} }, before: readonly string[] = []) {
  const replies: { readonly follower: string; readonly text: string }[] = []
  const problems: unknown[] = []
  const answering = createRpcServer({
    leader: leader as Leader,
    reply: (follower, text) => void replies.push({ follower, text }),
    answered: async (follower, begins) => before.find((text) => text.startsWith(begins) && follower === 'a'),
    problem: (error) => problems.push(error),
  })
  return { answering, replies, problems }
}

test('an RPC request is executed once, however often it is sent, and answered each time', async () => {
  let done = 0
  const { answering, replies } = open({ hint: () => void (done += 1) })
  for (let round = 0; round < 3; round += 1) answering.take(ask('1'))
  expect(done).toBe(1)
  expect(replies.map(({ text }) => decodeReply(text)?.id)).toEqual(['1', '1', '1'])
})

test('the follower of a server’s last report is notified once when its orders have another version', async () => {
  const watching = new Map<string, (version: number) => void>()
  const orders = (version: number) => ({ version, want: 'run' as const, matches: [] })
  const { answering, replies } = open({
    reportServer: async () => orders(7),
    waitForServerOrders: (token, { version }) =>
      new Promise((resolve) => {
        watching.get(token)?.(version)
        watching.set(token, (now) => resolve(orders(now)))
      }),
  })
  const report = (id: string, front: string) => {
    const input = ['cred.sig', { instance: 'one' }]
    answering.take(encode({ id, again: false, front, command: 'reportServer', input }))
  }
  report('1', 'a')
  report('2', 'b')
  await turn()
  watching.get('cred.sig')?.(8)
  await turn()
  const notices = replies.flatMap(({ follower, text }) => ({ follower, notice: decodeNotice(text) }))
  expect(notices.filter(({ notice }) => notice !== undefined)).toEqual([
    { follower: 'b', notice: { server: 'cred', version: 8 } },
  ])
  expect(replies.map(({ text }) => text).join()).not.toContain('sig')
})

test('a too long RPC reply becomes a short error, and a repeated request is executed again', async () => {
  let asked = 0
  const { answering, replies } = open({
    inspect: () => {
      asked += 1
      return 'x'.repeat(17_000_000) as never
    },
  })
  for (let round = 0; round < 2; round += 1) answering.take(ask('1', 'inspect'))
  expect(asked).toBe(2)
  expect(replies).toHaveLength(2)
  const [{ text } = { text: '' }] = replies
  expect(text.length).toBeLessThan(500)
  expect(decodeReply(text)).toMatchObject({ error: { message: expect.stringContaining('too long') } })
})

test.each(['constructor', 'close', '__proto__'])(
  'an RPC request for %s, which is no command, is refused',
  async (command) => {
    const { answering, replies } = open()
    answering.take(ask('1', command as never))
    expect(decodeReply(replies[0]?.text ?? '')).toMatchObject({
      error: { message: expect.stringContaining('does not know') },
    })
  },
)

test('RPC entries that cannot be parsed are skipped', async () => {
  const { answering, replies } = open()
  for (const text of ['', '{', 'null', '[]', '{"id":"1"}', '{"id":1,"follower":"a","command":"hint","input":[]}'])
    answering.take(text)
  expect(replies).toEqual([])
  answering.take(ask('1'))
  expect(replies.map(({ text }) => decodeReply(text)?.id)).toEqual(['1'])
})

test('an RPC command is answered in the turn in which its effect happens', async () => {
  const { answering, replies } = open({ forgive: () => 2 })
  answering.take(encode({ id: '1', again: false, front: 'a', command: 'forgive', input: ['ann'] }))
  expect(replies).toEqual([{ follower: 'a', text: '{"id":"1","answer":2}' }])
})

test('an RPC request that an earlier leader executed gets its old reply, and is not executed again', async () => {
  let forgiven = 0
  const leader: Partial<Leader> = {
    forgive: () => {
      forgiven += 1
      return 1
    },
  }
  const { answering, replies } = open(leader, ['{"id":"10","answer":9}', '{"id":"1","answer":2}'])
  const again = (id: string) => encode({ id, again: true, front: 'a', command: 'forgive', input: ['ann'] })
  for (const id of ['1', '1', '2']) answering.take(again(id))
  await turn()
  expect(replies.map(({ text }) => text)).toEqual(['{"id":"1","answer":2}', '{"id":"2","answer":1}'])
  expect(forgiven).toBe(1)
  answering.take(again('1'))
  expect(replies).toHaveLength(3)
})

test('a repeated RPC request waits while it is unknown whether it was executed', async () => {
  let isAway = true
  const done: string[] = []
  const replies: string[] = []
  const problems: unknown[] = []
  const answering = createRpcServer({
    leader: { forgive: (playerId: string) => done.push(playerId) } as never,
    reply: (_, text) => void replies.push(text),
    answered: async () => {
      if (isAway) throw new Error('away')
      return undefined
    },
    problem: (error) => problems.push(error),
  })
  const again = encode({ id: '1', again: true, front: 'a', command: 'forgive', input: ['ann'] })
  answering.take(again)
  await turn()
  expect([done, replies, problems.length]).toEqual([[], [], 1])
  isAway = false
  answering.take(again)
  await turn()
  expect([done, replies.length]).toEqual([['ann'], 1])
})
