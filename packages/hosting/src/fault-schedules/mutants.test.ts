/** Runs Muster processes with one defect each. The schedules must find every defect. */
import { expect, test } from 'vitest'
import { drawDisk } from './disk.fixture.js'
import { type MutantName, mutants } from './mutants.fixture.js'
import { runSchedules } from './run-schedules.fixture.js'

/** The expected result for a file store: the seed from which the schedules find the defect quickly. */
const found = {
  'a match is acknowledged before it is stored': 13,
  'a create is sent before it is stored': 16,
  'players are sent to a server before the assignment is stored': 99,
  'a match is ended before the end is stored': 32,
  'an enrolled server gets its token before it is stored': 11,
  'a drain is acknowledged before it is stored': 280,
  'a drain is not stored': 173,
  'the end of a match is not stored': 3,
  'the maximum duration of a match is not stored': 93,
  'the address of a server is not stored': 37,
  'a sent create is not searched for after a restart': 16,
  'the assignment of players is ignored after a restart': 37,
  'a lost create counts as absent immediately': 27,
  'every error confirms a stop': 60,
} satisfies Partial<Record<MutantName, number>>

test.each(Object.entries(found))('the fault schedules detect the planted fault: %s', async (name, first) => {
  const { broken } = await runSchedules({
    first,
    count: 200,
    openStorage: drawDisk,
    mutant: mutants[name as MutantName],
  })
  expect(broken).not.toEqual([])
})
