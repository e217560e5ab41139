/**
 * How a listed server, or one that players have requested, is used: - `started`: players have requested it; -
 * `seated`: players have seats from Muster on it; - `claimed`: only the server itself reports players; - `empty`:
 * nobody is on it.
 */
export type ServerUse = 'started' | 'seated' | 'claimed' | 'empty'
