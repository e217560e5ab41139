/** Gives the kernel's work to Colyseus' QueueRoom: `node bench/dist/matchmaker/kernel-colyseus.js pairs 10000`. */
import { QueueRoom } from '@colyseus/core'
import { contend, cpuOf, type Contender } from './kernel-contender.js'
import type { Task } from './kernel-workload.js'
import { STEPS, stepOf, type Sample } from './workload.js'

/** The data of a player that the room gets, and the room's own notes. */
interface UserData {
  readonly rank: number
  readonly ticket: Sample
  readonly step: number
  currentCycle: number
}
interface Group {
  readonly clients: readonly { readonly userData: UserData }[]
  readonly ready?: boolean
}
interface Room {
  maxPlayers: number
  compare: (client: UserData, group: Group) => boolean
  clients: { push(client: unknown): void }
  groups: Group[]
  reassignMatchGroups(): void
}

/**
 * Returns the region of a ticket. A room sorts only by rank, so there is one room for each region, as Colyseus'
 * documentation advises (`filterBy`). Within a region, all distances are within the first step's limit. With one room
 * for the whole world and the distance in `compare`, it matches only 7 %.
 */
function regionOf({ latitude, longitude }: Sample): number {
  const side = (STEPS[0].km / Math.SQRT2 / 6371) * (180 / Math.PI)
  const band = Math.floor((latitude + 90) / side)
  const nearest = Math.min(Math.abs(band * side - 90), Math.abs((band + 1) * side - 90))
  const widest = (band * side - 90) * ((band + 1) * side - 90) <= 0 ? 1 : Math.cos((nearest * Math.PI) / 180)
  return band * 1000 + Math.floor((longitude + 180) / (360 / Math.ceil((360 * widest) / side)))
}

const mayMeet = (one: UserData, other: UserData) =>
  Math.abs(one.rank - other.rank) <= (STEPS[Math.min(one.step, other.step)] as (typeof STEPS)[number]).skill

/**
 * QueueRoom's grouping with the benchmark's rules. Its work for a full group is omitted, which only makes it faster.
 */
class GroupingOnly extends QueueRoom {
  override processGroupsReady(): void {}
}

function roomOf(size: number): Room {
  const room = new GroupingOnly() as unknown as Room
  room.maxPlayers = size
  room.compare = (client, { clients }) => clients.every(({ userData }) => mayMeet(client, userData))
  return room
}

/** Returns the rooms of all regions, filled with the tickets. */
function roomsOf(tickets: readonly Sample[], size: number): Room[] {
  const rooms = new Map<number, Room>()
  for (const ticket of tickets) {
    const region = regionOf(ticket)
    const room = rooms.get(region) ?? roomOf(size)
    rooms.set(region, room)
    room.clients.push({
      userData: { rank: ticket.skill, ticket, step: stepOf(ticket), currentCycle: 0 },
      send: () => {},
    })
  }
  return [...rooms.values()]
}

const ticketsOf = ({ groups }: Room) =>
  groups.filter(({ ready }) => ready === true).map(({ clients }) => clients.map(({ userData }) => userData.ticket))

function createColyseus(task: Task, tickets: readonly Sample[]): Contender {
  const size = task === 'pairs' ? 2 : 10
  let rooms: Room[] = []
  const round = () => {
    rooms = roomsOf(tickets, size)
    return cpuOf(() => {
      for (const room of rooms) room.reassignMatchGroups()
    })
  }
  return {
    round,
    matches: () => {
      round()
      return rooms.flatMap(ticketsOf)
    },
  }
}

contend(createColyseus)
