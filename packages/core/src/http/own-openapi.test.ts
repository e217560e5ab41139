import { expect, test } from 'vitest'
import { z } from 'zod'
import { operation } from '../operation.js'
import { ownOpenApiDocument } from './own-openapi.js'
import { routesFor } from './own-routes.js'

const Book = z.object({ title: z.string() }).meta({ id: 'Book' })
const Shelf = z.object({ books: z.array(Book) }).meta({ id: 'Shelf' })

const Order = z
  .strictObject({
    title: z.string(),
    notes: z
      .custom<object>()
      .nullish()
      .meta({ type: ['object', 'null'] }),
  })
  .meta({ id: 'Order' })

const routes = {
  put: operation('PUT /shelves/{shelf}', {
    summary: 'Put a book',
    input: z.strictObject({ shelf: z.string(), title: z.string().describe('Its title'), pages: z.int().optional() }),
    output: Shelf,
    errors: [400, 404],
  }),
  list: routesFor('anyone', [])('GET /shelves', {
    summary: 'List',
    input: z.strictObject({ limit: z.coerce.number<string>().optional(), mask: z.string().optional() }),
    output: z.object({ shelves: z.array(Shelf) }),
    headers: { mask: 'x-fields' },
    errors: [],
  }),
  order: operation('POST /books', { summary: 'Order', input: Order, errors: [] }),
  burn: operation('DELETE /shelves/{shelf}', {
    summary: 'Burn',
    input: z.strictObject({ shelf: z.string() }),
    errors: [403],
  }),
}

const options = {
  title: 'Books',
  version: '1',
  description: 'About books.',
  routes,
  subjects: { shelves: 'Shelves of books.', books: 'Orders of books.' },
  basePath: '/api',
}
const document = ownOpenApiDocument(options)

test('the first path segment is an OpenAPI tag with its own description', () => {
  expect(document['tags']).toEqual([
    { name: 'shelves', description: 'Shelves of books.' },
    { name: 'books', description: 'Orders of books.' },
  ])
})

test('ownOpenApiDocument refuses a first path segment without a description', () => {
  expect(() => ownOpenApiDocument({ ...options, subjects: { shelves: 'Shelves of books.' } })).toThrow(
    "ownOpenApiDocument: subjects has no text for 'books'",
  )
})

test('the OpenAPI document describes keys where they are sent: path, query, header or body', () => {
  expect(document).toMatchObject({
    openapi: '3.1.1',
    paths: {
      '/api/shelves/{shelf}': {
        put: {
          operationId: 'put',
          parameters: [{ name: 'shelf', in: 'path', required: true }],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: { required: ['title'], properties: { title: { description: 'Its title' }, pages: {} } },
              },
            },
          },
        },
        delete: { responses: { 204: { description: 'No Content' } } },
      },
      '/api/shelves': {
        get: {
          security: [],
          parameters: [
            { name: 'limit', in: 'query' },
            { name: 'x-fields', in: 'header' },
          ],
        },
      },
    },
  })
})

test('the OpenAPI document names the schema of a body after the id of the input', () => {
  const { paths, components } = document as {
    paths: Record<string, { post: { requestBody: unknown } }>
    components: { schemas: object }
  }
  expect(paths['/api/books']?.post.requestBody).toEqual({
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
  })
  expect(components.schemas).toMatchObject({
    Order: {
      type: 'object',
      properties: { title: { type: 'string' }, notes: { type: ['object', 'null'] } },
      required: ['title'],
      additionalProperties: false,
    },
  })
})

test('schemas with an id become OpenAPI components, and every reference leads to a component', () => {
  const { schemas } = (document as { components: { schemas: object } }).components
  expect(Object.keys(schemas).toSorted()).toEqual(['Book', 'Order', 'Problem', 'Shelf'])
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  )
  expect(new Set(references)).toEqual(new Set(['Book', 'Order', 'Problem', 'Shelf']))
  expect(JSON.stringify(document)).not.toContain('$defs')
})

test('the OpenAPI document lists the error statuses of each operation, including those before its handler runs', () => {
  const responses = (path: string, method: string) =>
    Object.keys(
      (document as { paths: Record<string, Record<string, { responses: object }>> }).paths[path]?.[method]?.responses ??
        {},
    )
  expect(responses('/api/shelves/{shelf}', 'put')).toEqual(['200', '400', '401', '404', '413', '415', '429'])
  expect(responses('/api/shelves', 'get')).toEqual(['200', '400', '429'])
})
