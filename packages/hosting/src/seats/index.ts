/** Seats on listed servers: who has one, who may get one, and how many are free. */
export { type Seat, SeatRefused, UnknownServer } from './seat.js'
export { Seats, type SeatRequest } from './seats.js'
