/** What the tests of the other packages of this repository use of @muster/game-server. It changes without notice. */
export { readJoinToken } from './join-token.js'
