import { isWellFormed } from '@muster/core/internal'

/**
 * False for `__proto__`, which no player may have as an id. Reports and results have objects whose keys are player ids.
 * JSON with that key is rejected, so a player of this id would invalidate a server's whole report (our choice). False
 * for half of a surrogate pair, because in UTF-8 all ids that differ only in such halves are equal.
 */
export const isPlayerId = (id: string): boolean => id !== '__proto__' && isWellFormed(id)
export const NO_PLAYER_ID = 'must not be __proto__, which JSON cannot have as a key, and must be well-formed Unicode'
