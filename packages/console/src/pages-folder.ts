/** The folder of the bundled pages, made by `bundle.mjs`. */
export const pagesFolder = new URL('../dist/pages/', import.meta.url)
