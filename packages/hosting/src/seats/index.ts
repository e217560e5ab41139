/** Seats on listed servers: who has one, who may have one, and how many are free. */
export { type Seat, SeatRefused, UnknownServer } from './seat.js'
export { createSeats, type SeatRequest, type Seats } from './seats.js'
