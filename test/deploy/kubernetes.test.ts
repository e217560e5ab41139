/** Checks that deploy/kubernetes is valid for Kubernetes, and fits the program. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { createEmulator } from '@muster/emulator'
import { type Config, InvalidConfig, readConfigText, startServer, version } from '@muster/server'
import type { IDeployment } from 'kubernetes-models/apps/v1'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import type { IConfigMap, IContainer, IPersistentVolumeClaim, IPodSpec, ISecret, IService } from 'kubernetes-models/v1'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type KubernetesObject, type Labels, objectsIn, render } from './kustomize.js'
import { faultsOf } from './schemas.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'deploy/kubernetes')
const OVERLAYS = ['one', 'redis'] as const

const [example] = objectsIn(join(folder, 'secret.example.yaml')) as unknown as [KubernetesObject & ISecret]
const names = Object.keys(example.stringData ?? {})

/** Returns the objects of an overlay, by kind. */
function partsOf(overlay: (typeof OVERLAYS)[number]) {
  const { objects } = render(join(folder, overlay))
  const all = <T>(kind: string) =>
    objects.filter((object) => object.kind === kind) as unknown as (KubernetesObject & T)[]
  const [deployment] = all<IDeployment>('Deployment') as [KubernetesObject & IDeployment]
  const template = deployment.spec?.template
  const pod = template?.spec as IPodSpec
  const [container] = pod.containers as [IContainer]
  const maps = all<IConfigMap>('ConfigMap')
  const dataOf = (name: string) => maps.find(({ metadata }) => metadata.name === name)?.data ?? {}
  /** Returns the variables of the container, with values from a Secret. */
  const envOf = (secret: Labels): Labels => {
    const env: Record<string, string> = { ...secret }
    for (const { name, value = '', valueFrom } of container.env ?? []) {
      const { name: map = '', key = '' } = valueFrom?.configMapKeyRef ?? {}
      // Kubernetes keeps a reference unchanged if it cannot resolve the reference.
      const resolved = value.replaceAll(/\$\((\w+)\)/g, (reference, other: string) => env[other] ?? reference)
      env[name] = valueFrom === undefined ? resolved : (dataOf(map)[key] ?? '')
    }
    return env
  }
  const text = dataOf('muster')['muster.yaml'] ?? ''
  const read = (secret: Labels) => readConfigText(text, { path: '/etc/muster/muster.yaml', env: envOf(secret) })
  return { objects, all, deployment, labels: template?.metadata?.labels ?? {}, pod, container, read }
}
/** Example values of the Secret. */
const SECRET = Object.fromEntries(names.map((name, index) => [name, `${index}`.repeat(40)]))

const matches = (selector: Labels | undefined, labels: Labels) =>
  selector !== undefined && Object.entries(selector).every(([name, value]) => labels[name] === value)

test('every Kubernetes file is part of an overlay, except for the example of a Secret', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
  const used = OVERLAYS.flatMap((overlay) => render(join(folder, overlay)).files)
  expect(files.map((file) => join(folder, file)).toSorted()).toEqual(
    [...new Set([...used, join(folder, 'secret.example.yaml')])].toSorted(),
  )
})

test('every Kubernetes object is valid, without unknown fields', async () => {
  const sound = [example, ...OVERLAYS.flatMap((overlay) => render(join(folder, overlay)).objects)]
  const { deployment, all } = partsOf('redis')
  const [monitor] = all<IServiceMonitor>('ServiceMonitor')
  const [service] = all<IService>('Service')
  // Returns a copy of an object with one replaced text. Each such copy must be reported as faulty.
  const changed = (object: object | undefined, from: string, to: string) => {
    const text = JSON.stringify(object)
    expect(text).toContain(from)
    return JSON.parse(text.replace(from, to)) as KubernetesObject
  }
  const wrong = [
    changed(deployment, '"runAsNonRoot"', '"runAsNonroot"'),
    changed(deployment, '"replicas":3', '"replicas":"3"'),
    changed(deployment, '"topologyKey"', '"topology"'),
    changed(monitor, '"scrapeTimeout"', '"scrapetimeout"'),
    changed(service, '"port":8080', '"prot":8080'),
    changed(service, '"kind":"Service"', '"kind":"Servise"'),
  ]
  const faults = await faultsOf([...sound, ...wrong])
  expect(faults.slice(0, sound.length).flat()).toEqual([])
  expect(faults.slice(sound.length).map(({ length }) => length > 0)).toEqual(wrong.map(() => true))
})

test('a missing Kubernetes resource, and a patch without its object, are refused', () => {
  const copied = () => {
    const copy = mkdtempSync(join(tmpdir(), 'muster-kubernetes-'))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(folder, copy, { recursive: true })
    return copy
  }
  const without = copied()
  rmSync(join(without, 'base/services.yaml'))
  expect(() => render(join(without, 'one'))).toThrow('services.yaml')
  const renamed = copied()
  const patch = join(renamed, 'redis/deployment-patch.yaml')
  writeFileSync(patch, readFileSync(patch, 'utf8').replace('name: muster\n', 'name: mustard\n'))
  expect(() => render(join(renamed, 'redis'))).toThrow('there is no Deployment mustard')
})

/** True if kubectl is installed and its version of kustomize knows all fields that we use. */
const installed = (() => {
  try {
    const said = execFileSync('kubectl', ['version', '--client'], { encoding: 'utf8', stdio: 'pipe' })
    return /^Kustomize Version: v[5-9]/m.test(said)
  } catch {
    return false
  }
})()
test.skipIf(!installed).each(OVERLAYS)('kubectl builds the overlay %s with the same result as this test', (overlay) => {
  const built = execFileSync('kubectl', ['kustomize', join(folder, overlay)], { encoding: 'utf8' })
  const byName = (objects: readonly KubernetesObject[]) =>
    Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]))
  const objects = parseAllDocuments(built).map((document) => document.toJS() as KubernetesObject)
  expect(byName(objects)).toEqual(byName(partsOf(overlay).objects))
})

describe.each(OVERLAYS)('the overlay %s of Kubernetes', (overlay) => {
  const { objects, all, deployment, labels, pod, container, read } = partsOf(overlay)
  const ports = Object.fromEntries((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]))
  const services = all<IService>('Service')
  const policies = all<INetworkPolicy>('NetworkPolicy')
  const [monitor] = all<IServiceMonitor>('ServiceMonitor') as [IServiceMonitor]
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]

  test('every selector of the Kubernetes overlay finds the pods, in one namespace', () => {
    const selectors = [
      deployment.spec?.selector.matchLabels,
      ...services.map(({ spec }) => spec?.selector),
      ...policies.map(({ spec }) => spec?.podSelector.matchLabels),
      ...all<{ spec: IDeployment['spec'] }>('PodDisruptionBudget').map(({ spec }) => spec?.selector.matchLabels),
      ...(pod.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector?.matchLabels),
    ]
    for (const selector of selectors) expect(matches(selector, labels), JSON.stringify(selector)).toBe(true)
    for (const { metadata } of objects) expect(metadata).toMatchObject({ namespace: 'muster', labels })
  })

  test('the Kubernetes overlay has a valid configuration without a warning, and placeholder secrets', async () => {
    const { config, warnings } = await read(SECRET)
    expect(warnings).toEqual([])
    expect(ports).toEqual({ http: config.listen.port, admin: config.listen.admin?.port })
    expect([config.listen.host, config.listen.admin?.host]).toEqual(['0.0.0.0', '0.0.0.0'])
    await expect(read(example.stringData ?? {})).rejects.toThrow(InvalidConfig)
    expect(container.envFrom).toEqual([{ secretRef: { name: example.metadata.name } }])
  })

  test('the Kubernetes overlay refers only to ports that exist', () => {
    const named = [
      ...services.flatMap(({ spec }) => (spec?.ports ?? []).map(({ targetPort }) => targetPort)),
      ...probes.map((probe) => probe?.httpGet?.port),
      ...policies
        .flatMap(({ spec }) => spec?.ingress ?? [])
        .flatMap((rule) => (rule.ports ?? []).map(({ port }) => port)),
    ]
    expect(new Set(named)).toEqual(new Set(Object.keys(ports)))
    for (const { port, targetPort } of services.flatMap(({ spec }) => spec?.ports ?? []))
      expect(port).toBe(ports[String(targetPort)])
  })

  test('the Kubernetes overlay is scraped as the job of the alerts, with the key of the Secret', () => {
    const { selector, endpoints, jobLabel = '' } = monitor.spec
    const scraped = services.filter(({ metadata }) => matches(selector.matchLabels, metadata.labels ?? {}))
    expect(scraped).toHaveLength(1)
    expect(scraped[0]?.spec?.ports?.map(({ name }) => name)).toEqual(endpoints.map(({ port }) => port))
    const job = scraped[0]?.metadata.labels?.[jobLabel]
    expect(readFileSync(join(root, 'deploy/prometheus/muster.rules.yaml'), 'utf8')).toContain(`up{job="${job}"}`)
    const { name, key } = endpoints[0]?.authorization?.credentials ?? {}
    expect([name, names.includes(key ?? '')]).toEqual([example.metadata.name, true])
  })

  test('the probes of the Kubernetes overlay use paths that the running server answers', async () => {
    const { config } = await read(SECRET)
    const emulator = createEmulator({ token: SECRET['MUSTER_TOKEN'] ?? '' })
    const { url } = await emulator.listen()
    const loopback: Config = {
      ...config,
      listen: {
        ...config.listen,
        host: '127.0.0.1',
        port: 0,
        admin: { host: '127.0.0.1', port: 0 },
        publicUrl: undefined,
      },
      service: config.service && { ...config.service, url },
      store: { kind: 'memory' },
    }
    const server = await startServer(loopback, { write: () => {} })
    onTestFinished(async () => {
      await server.close()
      await emulator.close()
    })
    const status = async (path = '', base = server.url, headers = {}) => (await fetch(base + path, { headers })).status
    for (const probe of probes) await expect.poll(() => status(probe?.httpGet?.path)).toBe(200)
    const [{ path, authorization } = {}] = monitor.spec.endpoints
    const bearer = `${authorization?.type} ${SECRET[authorization?.credentials?.key ?? '']}`
    expect(await status(path, server.adminUrl, { authorization: bearer })).toBe(200)
    expect(await status(path, server.adminUrl)).toBe(401)
    expect(await status(path)).toBe(404)
  })

  test('the Kubernetes overlay gives the server time for its own shutdown', async () => {
    const { config } = await read(SECRET)
    const pause = container.lifecycle?.preStop?.sleep?.seconds ?? 0
    const needed = pause + config.shutdown.withinMs / 1000
    expect(pod.terminationGracePeriodSeconds).toBe(needed + 5)
  })

  test('the Kubernetes overlay gives each container limits, and only necessary rights', () => {
    for (const { resources, securityContext } of [...pod.containers, ...(pod.initContainers ?? [])]) {
      const bounds = ['cpu', 'ephemeral-storage', 'memory']
      expect(Object.keys(resources?.requests ?? {}).toSorted()).toEqual(bounds)
      expect(Object.keys(resources?.limits ?? {}).toSorted()).toEqual(bounds)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
    const { runAsUser, runAsGroup, runAsNonRoot, seccompProfile } = pod.securityContext ?? {}
    expect([runAsNonRoot, seccompProfile]).toEqual([true, { type: 'RuntimeDefault' }])
    expect(readFileSync(join(root, 'deploy/container/Dockerfile'), 'utf8')).toContain(
      `\nUSER ${runAsUser}:${runAsGroup}\n`,
    )
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(container.image).toBe(`registry.example.com/muster:${version}`)
  })
})

test('the Kubernetes overlay of one process has its folder in a volume, which no second process opens', async () => {
  const { all, deployment, pod, container, read } = partsOf('one')
  const { config } = await read(SECRET)
  const [claim] = all<IPersistentVolumeClaim>('PersistentVolumeClaim')
  const volume = pod.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)
  expect(volume?.persistentVolumeClaim?.claimName).toBe(claim?.metadata.name)
  const mount = container.volumeMounts?.find(({ name }) => name === volume?.name)
  expect(config.store).toMatchObject({ kind: 'folder', path: mount?.mountPath })
  expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
})

test('the Kubernetes overlay of three processes finds its Redis, with the password of the Secret', async () => {
  const { all, deployment, read } = partsOf('redis')
  const { store, streamTokens } = (await read(SECRET)).config
  if (store.kind !== 'redis' || typeof store.url === 'string') throw new Error('the URL is no secret')
  const url = new URL(store.url.reveal())
  expect([url.protocol, url.username, url.password]).toEqual(['rediss:', 'muster', SECRET['MUSTER_REDIS_PASSWORD']])
  expect(streamTokens.key?.reveal()).toBe(SECRET['MUSTER_STREAM_KEY'])
  expect(deployment.spec).toMatchObject({ replicas: 3, strategy: { rollingUpdate: { maxUnavailable: 0 } } })
  // The network policy allows the pods to reach it.
  const policy = all<INetworkPolicy>('NetworkPolicy').find(({ metadata }) => metadata.name === 'muster-redis')
  const [rule] = policy?.spec?.egress ?? []
  const namespace = rule?.to?.[0]?.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']
  expect(url.hostname.split('.').slice(1)).toEqual([namespace, 'svc', 'cluster', 'local'])
  expect(rule?.ports).toEqual([{ protocol: 'TCP', port: Number(url.port) }])
})
