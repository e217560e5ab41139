/** What `@muster/core/openapi` offers: the description of the service as an OpenAPI 3.1 document. */
export { openApiDocument, type OpenApiDocument, type OpenApiOptions } from './document.js'
export type { Comments, FieldComment, TypeComment } from './schemas.js'
