import type { CallOptions } from '@muster/core'
import type { DeploymentService } from '@muster/matchmaker'
import type { ServerAllocator } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import { LeaseLost } from '../partition-errors.js'
import { fencedAllocator, fencedService } from './fenced-sources.js'

function open(assert: () => Promise<void> = async () => {}) {
  const calls: string[] = []
  let isHeld = true
  const call = (name: string) => async (_input: unknown, options?: CallOptions) => {
    calls.push(`${name} ${options?.mayWrite?.() ?? 'anyway'}`)
    return {} as never
  }
  const service = {
    create: call('create'),
    get: call('get'),
    stop: call('stop'),
    list: call('list'),
  } as unknown as DeploymentService
  const allocator = { allocate: call('allocate'), poll: call('poll'), stop: call('stop') } as unknown as ServerAllocator
  const fenced = fencedService(service, () => isHeld, assert)
  const source = fencedAllocator(allocator, () => isHeld, assert)
  return { calls, fenced, source, lose: () => (isHeld = false) }
}

test('a leader creates and stops servers only while it holds the lease, but can always read them', async () => {
  const { calls, fenced, lose } = open()
  const all = async () => {
    await fenced.create({} as never)
    await fenced.stop({ request_id: 'r1' })
    await fenced.get({ request_id: 'r1' })
    await fenced.list({})
  }
  await all()
  lose()
  await all()
  const looks = ['get anyway', 'list anyway']
  expect(calls).toEqual(['create true', 'stop true', ...looks, 'create false', 'stop false', ...looks])
})

test('a deposed leader stops no server', async () => {
  const { calls, fenced } = open(async () => {
    throw new LeaseLost('eu')
  })
  await expect(fenced.stop({ request_id: 'r1' })).rejects.toThrow(LeaseLost)
  expect(calls).toEqual([])
})

test('a leader allocates and stops servers of a custom source only while it holds the lease', async () => {
  const { calls, source, lose } = open()
  const all = async () => {
    await source.allocate({} as never, {})
    await source.stop('s1', {})
    await source.poll(['s1'], {})
  }
  await all()
  lose()
  await all()
  expect(calls).toEqual(['allocate true', 'stop true', 'poll anyway', 'allocate false', 'stop false', 'poll anyway'])
})

test('a deposed leader stops no server of a custom source', async () => {
  const { calls, source } = open(async () => {
    throw new LeaseLost('eu')
  })
  await expect(source.stop('s1', {})).rejects.toThrow(LeaseLost)
  expect(calls).toEqual([])
})
