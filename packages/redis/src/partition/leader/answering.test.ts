import type { Leader } from '@muster/matchmaker/partition'
import { expect, test } from 'vitest'
import { decodeReply, encode } from '../asks.js'
import { createAnswering } from './answering.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const ask = (id: string, command: 'hint' | 'inspect' = 'hint', front = 'a') =>
  encode({ id, front, command, input: [id] })

function open(leader: Partial<Leader> = { hint: () => {} }) {
  /** Ends of the writes under way, in order. */
  const writes: (() => void)[] = []
  const sends: (() => void)[] = []
  const sent: string[] = []
  const problems: unknown[] = []
  const answering = createAnswering({
    leader: leader as Leader,
    flushed: () => new Promise((resolve) => writes.push(resolve)),
    send: async (_front, texts) => {
      sent.push(...texts.map((text) => decodeReply(text)?.id ?? ''))
      await new Promise<void>((resolve) => sends.push(resolve))
    },
    problem: (error) => problems.push(error),
  })
  return { answering, writes, sends, sent, problems }
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
