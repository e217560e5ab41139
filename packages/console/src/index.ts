/** Where the files of the console's page are, made by `bundle.mjs`: what a server sends for `/console`. */
export const pagesFolder = new URL('../dist/pages/', import.meta.url)
