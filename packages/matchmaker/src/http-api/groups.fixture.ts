import { setUp } from './ticket-api.fixture.js'

export const solo = { profile: 'duel', attributes: {}, is_ready: true }
export const later = { ...solo, is_ready: false }

export interface Member {
  readonly member_id: string
  readonly group_id: string
}

/** Creates a group of Ann, who is not ready. */
export async function gather(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp(options)
  const ann = (await world.call('ann', 'POST', '/groups', later)).json as Member
  const group = `/groups/${ann.group_id}`
  const join = async (who: string, body: object = later) =>
    (await world.call(who, 'POST', `${group}/members`, body)).json as Member
  const ready = (who: string, member: Member, is_ready = true) =>
    world.call(who, 'PATCH', `${group}/members/${member.member_id}`, { is_ready })
  return { ...world, ann, group, join, ready }
}
