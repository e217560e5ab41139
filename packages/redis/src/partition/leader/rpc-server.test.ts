import type { Leader } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import { decodeReply, encode } from '../rpc.js'
import { createRpcServer } from './rpc-server.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const ask = (id: string, command: 'hint' | 'inspect' = 'hint', follower = 'a') =>
  encode({ id, again: false, front: follower, command, input: [id] })

function open(leader: Partial<Leader> = { hint: () => {} }, before: readonly string[] = []) {
  /** Ends of the writes under way, in order. */
  const writes: (() => void)[] = []
  const sends: (() => void)[] = []
  const sent: string[] = []
  const texts: string[] = []
  const problems: unknown[] = []
  const kept: { readonly follower: string; readonly text: string }[] = []
  const answering = createRpcServer({
    leader: leader as Leader,
    keep: (follower, text) => void kept.push({ follower, text }),
    answered: async (follower, begins) => before.find((text) => text.startsWith(begins) && follower === 'a'),
    flushed: () => new Promise((resolve) => writes.push(resolve)),
    send: async (_front, replies) => {
      texts.push(...replies)
      sent.push(...replies.map((text) => decodeReply(text)?.id ?? ''))
      await new Promise<void>((resolve) => sends.push(resolve))
    },
    problem: (error) => problems.push(error),
  })
  return { answering, writes, sends, sent, texts, kept, problems }
}

test('no answer is sent before what it tells of is written, also while others are being sent', async () => {
  const { answering, writes, sends, sent } = open()
  answering.take(ask('1'))
  await turn()
  expect(sent).toEqual([])
  writes.shift()?.()
  await turn()
  expect(sent).toEqual(['1'])
  answering.take(ask('2'))
  await turn()
  sends.shift()?.()
  await turn()
  expect(sent).toEqual(['1'])
  writes.shift()?.()
  await turn()
  expect(sent).toEqual(['1', '2'])
})

test('a question is done once, however often it is asked, and answered each time', async () => {
  let done = 0
  const { answering, writes, sends, sent } = open({ hint: () => void (done += 1) })
  for (let round = 0; round < 3; round += 1) {
    answering.take(ask('1'))
    await turn()
    writes.shift()?.()
    await turn()
    sends.shift()?.()
    await turn()
  }
  expect(done).toBe(1)
  expect(sent).toEqual(['1', '1', '1'])
})

test('an answer that is too long is an error, and long ones are not kept', async () => {
  let asked = 0
  const { answering, writes, sends, texts } = open({
    inspect: () => {
      asked += 1
      return 'x'.repeat(17_000_000) as never
    },
  })
  for (let round = 0; round < 2; round += 1) {
    answering.take(ask('1', 'inspect'))
    await turn()
    writes.shift()?.()
    await turn()
    sends.shift()?.()
    await turn()
  }
  expect(asked).toBe(2)
  expect(texts).toHaveLength(2)
  expect(texts[0]?.length).toBeLessThan(500)
  expect(decodeReply(texts[0] ?? '')).toMatchObject({ error: { message: expect.stringContaining('too long') } })
})

test.each(['constructor', 'close', '__proto__'])('%s is no question', async (command) => {
  const { answering, writes, texts } = open()
  answering.take(ask('1', command as never))
  await turn()
  writes.shift()?.()
  await turn()
  expect(decodeReply(texts[0] ?? '')).toMatchObject({ error: { message: expect.stringContaining('does not know') } })
})

test('what is no RPC request is skipped', async () => {
  const { answering, writes } = open()
  for (const text of ['', '{', 'null', '[]', '{"id":"1"}', '{"id":1,"follower":"a","command":"hint","input":[]}'])
    answering.take(text)
  await turn()
  expect(writes).toEqual([])
})

test('what a command did is answered in the turn in which it is done, by an answer that is kept', async () => {
  const { answering, kept, writes } = open({ forgive: () => 2 })
  answering.take(encode({ id: '1', again: false, front: 'a', command: 'forgive', input: ['ann'] }))
  expect(kept).toEqual([{ follower: 'a', text: '{"id":"1","answer":2}' }])
  await turn()
  expect(writes).toEqual([])
})

test('a command that a leader before has done is answered as it was, and not done again', async () => {
  let forgiven = 0
  const leader: Partial<Leader> = {
    forgive: () => {
      forgiven += 1
      return 1
    },
  }
  const { answering, kept } = open(leader, ['{"id":"10","answer":9}', '{"id":"1","answer":2}'])
  const again = (id: string) => encode({ id, again: true, front: 'a', command: 'forgive', input: ['ann'] })
  for (const id of ['1', '1', '2']) answering.take(again(id))
  await turn()
  expect(kept.map(({ text }) => text)).toEqual(['{"id":"1","answer":2}', '{"id":"2","answer":1}'])
  expect(forgiven).toBe(1)
  answering.take(again('1'))
  expect(kept.map(({ text }) => text)).toHaveLength(3)
})

test('a repeated command is not done while nobody knows whether it was done', async () => {
  let isAway = true
  const done: string[] = []
  const kept: string[] = []
  const problems: unknown[] = []
  const answering = createRpcServer({
    leader: { forgive: (playerId: string) => done.push(playerId) } as never,
    flushed: async () => {},
    keep: (_, text) => void kept.push(text),
    answered: async () => {
      if (isAway) throw new Error('away')
      return undefined
    },
    send: async () => {},
    problem: (error) => problems.push(error),
  })
  const again = encode({ id: '1', again: true, front: 'a', command: 'forgive', input: ['ann'] })
  answering.take(again)
  await turn()
  expect([done, kept, problems.length]).toEqual([[], [], 1])
  isAway = false
  answering.take(again)
  await turn()
  expect([done, kept.length]).toEqual([['ann'], 1])
})
