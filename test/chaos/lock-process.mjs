// A process that opens a journal: plain JavaScript, as Node runs it.
import { createFileJournal } from '@muster/matchmaker'

const { path } = JSON.parse(process.argv[2])
const journal = createFileJournal({ path, fsync: 'never' })
let appended = 0

const act = {
  open: () => journal.open(),
  append: () =>
    journal.append({
      kind: 'intent',
      matchId: `${process.pid}-${appended++}`,
      queue: 'duel',
      tag: 't',
      ticketIds: [],
      at: 0,
    }),
  close: () => journal.close(),
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
