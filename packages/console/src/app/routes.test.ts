import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hrefOf, routeOf } from './routes.js'

test('every id has an address that leads back to it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      expect(routeOf(hrefOf('find', id))).toEqual({ view: 'find', id })
      expect(routeOf(hrefOf('queues', id))).toEqual({ view: 'queues', queue: id })
      expect(routeOf(hrefOf('now', id))).toEqual({ view: 'now', queue: id })
    }),
  )
})

test.each(['', '#', '#/', '#/other', '#token=x', 'nonsense', '#/now'])('%j is the first view', (fragment) => {
  expect(routeOf(fragment)).toEqual({ view: 'now', queue: undefined })
})

test.each(['servers', 'changes'] as const)('%s is a view without parts', (view) => {
  expect(routeOf(hrefOf(view))).toEqual({ view })
})

test('a fragment that is no proper encoding is taken as it is', () => {
  expect(routeOf('#/find/50%')).toEqual({ view: 'find', id: '50%' })
})
