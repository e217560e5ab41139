import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

/** A Kubernetes object in a manifest. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels }
}
export type Labels = Readonly<Record<string, string>>

/** The kustomize fields that our folders use. All others are refused. */
const kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string().optional(),
  resources: z.array(z.string()),
  patches: z.array(z.strictObject({ path: z.string() })).default([]),
  configMapGenerator: z
    .array(
      z.strictObject({
        name: z.string(),
        files: z.array(z.string()).default([]),
        literals: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  generatorOptions: z
    .strictObject({ disableNameSuffixHash: z.literal(true), labels: z.record(z.string(), z.string()) })
    .optional(),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })).default([]),
})

/** The objects that a folder renders to, and the files that they come from. */
export interface Rendered {
  readonly objects: readonly KubernetesObject[]
  readonly files: readonly string[]
}

/** Returns the objects in a file. @throws if the file is not YAML, or has a name twice */
export const objectsIn = (file: string): KubernetesObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`)
    return document.toJS() as KubernetesObject
  })

const named = ({ kind, metadata: { name } }: KubernetesObject) => `${kind} ${name}`

/**
 * Renders a folder as `kubectl kustomize` does, limited to the fields that our folders use.
 * @throws if a file is missing, an object occurs twice, or a patch matches no object
 */
export function render(folder: string): Rendered {
  const own = join(folder, 'kustomization.yaml')
  const given = kustomization.parse(parse(readFileSync(own, 'utf8')))
  const parts = given.resources.map((path): Rendered => {
    const at = join(folder, path)
    return path.endsWith('.yaml') ? { objects: objectsIn(at), files: [at] } : render(at)
  })
  const files = [own, ...parts.flatMap((part) => part.files)]
  const objects = new Map<string, KubernetesObject>()
  const add = (object: KubernetesObject) => {
    if (objects.has(named(object))) throw new Error(`${folder}: ${named(object)} is there twice`)
    objects.set(named(object), object)
  }
  for (const object of parts.flatMap((part) => part.objects)) add(object)
  for (const { path } of given.patches) {
    files.push(join(folder, path))
    for (const patch of objectsIn(join(folder, path))) {
      const target = objects.get(named(patch))
      if (target === undefined) throw new Error(`${folder}/${path}: there is no ${named(patch)}`)
      objects.set(named(patch), merged(target, patch) as KubernetesObject)
    }
  }
  for (const { name, files: texts, literals } of given.configMapGenerator) {
    files.push(...texts.map((text) => join(folder, text)))
    const data = Object.fromEntries([
      ...texts.map((text) => [text, readFileSync(join(folder, text), 'utf8')] as const),
      ...literals.map((literal) => [literal.replace(/=.*/, ''), literal.replace(/^.*?=/, '')] as const),
    ])
    const labels = given.generatorOptions?.labels ?? {}
    add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data } as KubernetesObject)
  }
  const imageOf = (image: string) => {
    const found = given.images.find(({ name }) => name === image)
    return found === undefined ? image : `${found.newName}:${found.newTag}`
  }
  const finished = Array.from(objects.values(), ({ metadata, ...object }) => ({
    ...(withImages(object, imageOf) as Omit<KubernetesObject, 'metadata'>),
    metadata: { ...metadata, ...(given.namespace !== undefined && { namespace: given.namespace }) },
  }))
  return { objects: finished, files }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The key by which Kubernetes merges the entries of each list. A list without a key is replaced as a whole. */
const KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
}

/** Applies a strategic merge patch. New entries of a list come first, as in kustomize. */
function merged(target: unknown, patch: unknown, field = ''): unknown {
  if (isFields(target) && isFields(patch)) {
    const changed = Object.entries(patch).map(([name, value]) => [name, merged(target[name], value, name)] as const)
    return { ...target, ...Object.fromEntries(changed) }
  }
  const key = KEYS[field]
  if (key === undefined || !Array.isArray(target) || !Array.isArray(patch)) return patch
  const isSame = (one: Fields) => (other: Fields) => one[key] === other[key]
  const [old, given] = [target as Fields[], patch as Fields[]]
  const added = given.filter((entry) => !old.some(isSame(entry)))
  return [...added, ...old.map((entry) => merged(entry, given.find(isSame(entry)) ?? {}))]
}

/** Replaces the image of each container in an object. */
function withImages(value: unknown, imageOf: (image: string) => string): unknown {
  if (Array.isArray(value)) return value.map((entry) => withImages(entry, imageOf))
  if (!isFields(value)) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'image' && typeof inner === 'string' ? imageOf(inner) : withImages(inner, imageOf),
  ])
  return Object.fromEntries(entries) as unknown
}
