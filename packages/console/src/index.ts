/** Where the files of the console's page are: what a server sends for `/console`. */
export { pagesFolder } from './pages-folder.js'
