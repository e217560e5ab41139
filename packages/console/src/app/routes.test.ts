import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hrefOf, routeOf } from './routes.js'

test('every id has a console address that leads back to the same id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      expect(routeOf(hrefOf('find', id))).toEqual({ view: 'find', id })
      expect(routeOf(hrefOf('queues', id))).toEqual({ view: 'queues', queue: id })
      expect(routeOf(hrefOf('now', id))).toEqual({ view: 'now', queue: id })
    }),
  )
})

test.each(['', '#', '#/', '#/other', '#token=x', 'nonsense', '#/now'])(
  'the URL fragment %j leads to the first view',
  (fragment) => {
    expect(routeOf(fragment)).toEqual({ view: 'now', queue: undefined })
  },
)

test.each(['servers', 'changes'] as const)('the address of the console view %s leads back to this view', (view) => {
  expect(routeOf(hrefOf(view))).toEqual({ view })
})

test('a URL fragment with a wrong percent-encoding is used unchanged', () => {
  expect(routeOf('#/find/50%')).toEqual({ view: 'find', id: '50%' })
})
