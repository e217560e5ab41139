import { expect, test } from 'vitest'
import { SeenServer } from './seen-server.js'

const post = (body: string) => new Request('http://127.0.0.1/verify/0', { method: 'POST', body })

test.each(['nonsense', '', 'null', '[]', '{"id":"1","ok":true}', '{"id":1}'])(
  'verify-server refuses an invalid answer to its order: %s',
  async (body) => {
    const answer = await new SeenServer('token').verify(post(body))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('{"id": number, "ok": boolean}')
  },
)

test('an order of verify-server resolves with the answer of the server', async () => {
  const server = new SeenServer('token')
  const answered = server.send({ do: 'over', match: 'm' })
  const command = await (await server.verify(new Request('http://127.0.0.1/verify/0'))).json()
  expect(command).toEqual({ id: 1, do: 'over', match: 'm' })
  expect((await server.verify(post('{"id":1,"ok":false,"why":"no"}'))).status).toBe(204)
  expect(await answered).toEqual({ id: 1, ok: false, why: 'no' })
})
