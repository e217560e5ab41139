import { expect, test } from 'vitest'
import { createGate } from './leader.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('an abandoned leader drops late answers and writes nothing more', async () => {
  const gate = createGate()
  const done: string[] = []
  let answer = () => {}
  const create = () => new Promise<never>((resolve) => (answer = () => resolve({} as never)))
  const service = gate.service({ create } as never)
  const serverLog = gate.serverLog({ append: () => void done.push('append') } as never)
  const ledger = gate.ledger({ changed: () => void done.push('changed') } as never)
  void service.create({} as never).then(() => done.push('created'))
  void serverLog.append({} as never)
  ledger.changed({} as never)
  expect(done).toEqual(['append', 'changed'])
  gate.shut()
  answer()
  void serverLog.append({} as never)
  ledger.changed({} as never)
  await turn()
  expect(done).toEqual(['append', 'changed'])
})
