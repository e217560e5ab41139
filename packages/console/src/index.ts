/** The folder with the files of the console's page, built by `bundle.mjs`. A server serves them at `/console`. */
export const pagesFolder = new URL('../dist/pages/', import.meta.url)
