/** What all pages of Muster share: colours and sizes. */
export { colours } from './colours.js'
