import { seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { expect, test } from 'vitest'
import { faultReports, faultSection } from './fault-report.js'
import { badDay } from './faults.js'
import { badDay as badRelayDay } from './relay/faults.js'

test('the fault report of the demo describes the effects of each fault', async () => {
  const emulator = createEmulator({
    random: seededRandom(1),
    faults: [
      { operation: 'applications.list', nth: [1, 2], drop: 'after' },
      { operation: '*', nth: [3], status: 503, effect: true },
    ],
  })
  const list = () => emulator.fetch(new Request('http://any/v1/apps', { headers: { authorization: 'token dev' } }))
  for (let request = 0; request < 3; request++) await list().catch(() => {})
  expect(faultSection(faultReports(emulator.faults.counts()), 100)).toEqual([
    '  what went wrong, as declared',
    '    applications.list        2 of 3: the answer was lost after it had taken effect',
    '    any request              1 of 3: answered by 503 although it had taken effect',
    '',
  ])
  expect(faultSection([], 100)).toEqual([])
  await emulator.close()
})

test('every fault of the demo has a description', () => {
  const reports = faultReports([...badDay, ...badRelayDay].map((fault) => ({ fault, seen: 1, struck: 0 })))
  expect(reports.filter(({ what }) => what === '' || what.includes('undefined'))).toEqual([])
})
