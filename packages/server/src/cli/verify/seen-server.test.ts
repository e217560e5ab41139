import { expect, test } from 'vitest'
import { SeenServer } from './seen-server.js'

const post = (body: string) => new Request('http://127.0.0.1/verify/0', { method: 'POST', body })

test.each(['nonsense', '', 'null', '[]', '{"id":"1","ok":true}', '{"id":1}'])(
  'an answer to a wish that is none is refused: %s',
  async (body) => {
    const answer = await new SeenServer('token').verify(post(body))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('{"id": number, "ok": boolean}')
  },
)

test('an answer to a wish is what the wish resolves with', async () => {
  const server = new SeenServer('token')
  const answered = server.wish({ do: 'over', match: 'm' })
  const wish = await (await server.verify(new Request('http://127.0.0.1/verify/0'))).json()
  expect(wish).toEqual({ id: 1, do: 'over', match: 'm' })
  expect((await server.verify(post('{"id":1,"ok":false,"why":"no"}'))).status).toBe(204)
  expect(await answered).toEqual({ id: 1, ok: false, why: 'no' })
})
