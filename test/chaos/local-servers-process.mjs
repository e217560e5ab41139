// A process that starts and stops game servers on this machine, in plain JavaScript so that Node runs it directly.
import { createLocalAllocator } from '@muster/matchmaker/internal'

const { state, command } = JSON.parse(process.argv[2])
const allocator = createLocalAllocator({ state, command, graceMs: 200 })
const call = { timeoutMs: 10_000 }

process.on('message', async ({ kind, id }) => {
  const wanted = { id, application: 'game', version: '1', places: [], environment: {} }
  const act = { start: () => allocator.allocate(wanted, call), stop: () => allocator.stop(id, call) }
  await act[kind]().catch(() => {})
  process.send({ kind: 'done', id })
})
process.on('disconnect', () => process.exit(0))
process.send({ kind: 'started', pid: process.pid })
