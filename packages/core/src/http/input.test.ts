import { expect, test } from 'vitest'
import { z } from 'zod'
import { createManualClock } from '../time.js'
import { routesFor } from './own-routes.js'
import { eventStream } from './long-answers.js'
import { createHttpApi } from './http-api.js'

const byAnyone = routesFor('anyone', [])
const routes = {
  // The schema accepts unknown keys, so only the parser can keep them from the handler.
  set: byAnyone('POST /data', {
    summary: '',
    input: z.looseObject({}),
    output: z.record(z.string(), z.unknown()),
    errors: [400],
  }),
  follow: byAnyone('GET /events', {
    summary: '',
    input: z.strictObject({ lastEventId: z.coerce.number<string>().optional() }),
    output: z.unknown(),
    headers: { lastEventId: 'last-event-id' },
    errors: [],
  }),
}
const clock = createManualClock()
const api = createHttpApi({
  routes,
  handlers: {
    set: (input) => input,
    follow: ({ lastEventId = 0 }, { request }) =>
      eventStream(
        async function* () {
          for (let seq = lastEventId + 1; seq <= 3; seq += 1) yield { id: String(seq), event: 'step', data: seq }
        },
        { clock, signal: request.signal },
      ),
  },
  authenticate: () => undefined,
  clock,
  maxBodyBytes: 1000,
})
const post = (body: string, query = '') =>
  api(
    new Request(`http://localhost/data${query}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    }),
  )

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'a key %s in body or query is refused and changes no prototype',
  async (key) => {
    for (const response of [
      await post(JSON.stringify({ a: 1 }).replace('"a"', `"${key}"`)),
      await post('{}', `?${key}=1`),
    ]) {
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'invalid-input', field: key })
    }
    expect(await (await post('{"a":{"b":1}}')).json()).toEqual({ a: { b: 1 } })
  },
)

test('an event stream resumes after the Last-Event-ID', async () => {
  const response = await api(new Request('http://localhost/events', { headers: { 'last-event-id': '1' } }))
  expect(await response.text()).toBe('retry: 2000\n\nid: 2\nevent: step\ndata: 2\n\nid: 3\nevent: step\ndata: 3\n\n')
})
