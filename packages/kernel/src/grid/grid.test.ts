import { expect, test } from 'vitest'
import { Columns } from '../data/columns.js'
import { modelOf } from '../plain.fixture.js'
import { Grid } from './grid.js'

test.each([
  [13, 0, 12, false],
  [13, 1024, 12, false],
  [13, 10, 2, true],
  [40, 30, 9, true],
])('among %i slots, a collection that leaves out %i of them finds %i others', (slots, skip, count, wasCut) => {
  const columns = new Columns(0)
  const grid = new Grid(modelOf(2), columns)
  for (let at = 0; at < slots; at += 1) {
    const row = { id: `t${at}`, since: 0, priority: 0, key: '', place: undefined, values: [] }
    grid.insert(columns.put(row, 0, -1, 1))
  }
  columns.horizon = columns.births
  grid.begin(0)
  grid.collect(0, 20, skip)
  expect({ count: grid.count, wasCut: grid.wasCut }).toEqual({ count, wasCut })
})
