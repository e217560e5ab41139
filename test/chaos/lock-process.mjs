// A process that opens a store, in plain JavaScript so that Node runs it directly.
import { openStore } from '@muster/matchmaker'

const { path } = JSON.parse(process.argv[2])
let store
let records
let appended = 0

const act = {
  open: async () => {
    store = await openStore({ path, fsync: 'never' })
    records = store.records('server', () => [])
  },
  append: () => records.write([{ key: `${process.pid}-${appended++}`, value: '{}' }]),
  close: () => store.close(),
}
process.on('message', async ({ kind }) => {
  try {
    await act[kind]()
    process.send({ kind: 'answer', error: undefined, pid: process.pid })
  } catch (error) {
    process.send({ kind: 'answer', error: error.name, pid: process.pid })
  }
})
process.on('disconnect', () => process.exit(0))
process.send({ kind: 'started', pid: process.pid })
