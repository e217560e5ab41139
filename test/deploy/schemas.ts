import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment } from 'kubernetes-models/apps/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, PersistentVolumeClaim, Secret, Service } from 'kubernetes-models/v1'
import type { KubernetesObject } from './kustomize.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const MODELS: readonly { is: (value: unknown) => boolean; new (data: never): { validate: () => void } }[] = [
  ConfigMap,
  Deployment,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Secret,
  Service,
  ServiceMonitor,
]

/**
 * Returns the faults of an object by the JSON schemas of Kubernetes 1.33 and of prometheus-operator, which ignore
 * unknown fields.
 */
function faultsBySchema(object: KubernetesObject): string[] {
  const Model = MODELS.find(({ is }) => is(object))
  if (Model === undefined) return [`${object.apiVersion} ${object.kind} has no schema`]
  try {
    new Model(object as never).validate()
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/** Returns the module with the types of an API. */
function moduleOf({ apiVersion, kind }: KubernetesObject): string {
  const isOperator = apiVersion.startsWith('monitoring.coreos.com/')
  return `${isOperator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`
}

const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2023',
  module: 'nodenext',
  types: [],
}

/**
 * Returns the compiler's errors for each object as a value of its type. The types come from the schemas and reject
 * unknown fields.
 */
async function faultsByType(objects: readonly KubernetesObject[]): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-manifests-'))
  try {
    symlinkSync(join(root, 'test/node_modules'), join(folder, 'node_modules'), 'junction')
    for (const [index, object] of objects.entries()) {
      const type = `I${object.kind}`
      const code = `import type { ${type} } from '${moduleOf(object)}'\nexport const given: ${type} = `
      writeFileSync(join(folder, `${index}.mts`), code + JSON.stringify(object))
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.mts'] }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { cwd: folder }, (_, stdout) =>
        resolve(stdout),
      )
    })
    // An error may continue in lines that begin with a space.
    const errors = output.split(/\n(?! )/)
    return objects.map((_, index) => errors.filter((error) => error.startsWith(`${index}.mts(`)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the faults of each object, including unknown fields. */
export async function faultsOf(objects: readonly KubernetesObject[]): Promise<string[][]> {
  const byType = await faultsByType(objects)
  return objects.map((object, index) => [...faultsBySchema(object), ...(byType[index] ?? [])])
}
