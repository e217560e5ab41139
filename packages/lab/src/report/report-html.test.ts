import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { resultOf } from '../compare/lab-result.fixture.js'
import type { LabResult } from '../figures/figures.js'
import { frontHtml, reportHtml } from './report-html.js'

const HOSTILE = `</style><script>alert("1")</script>&<img src=x onerror='alert(2)'>`
const hostile = (result: LabResult): LabResult => ({
  ...result,
  crowd: { ...result.crowd, name: HOSTILE },
  variants: result.variants.map((variant) => ({
    ...variant,
    queues: [{ name: HOSTILE, sentences: [HOSTILE] }],
    pools: [{ name: HOSTILE, sentences: [HOSTILE] }],
    runs: variant.runs.map(({ figures }) => ({
      figures: {
        ...figures,
        by: {
          ...figures.by,
          queue: { [HOSTILE]: figures.all, other: figures.all },
          region: { [HOSTILE]: figures.all, b: figures.all },
        },
        queues: {
          [HOSTILE]: {
            matches: figures.matches,
            expansion: [{ rule: HOSTILE, unit: '', steps: [{ after: 0, limit: 1, share: 1 }] }],
          },
        },
        pools: { [HOSTILE]: { ...figures.servers, matches: 1, warm: 1, toPlayMs: figures.all.toPlayMs } },
        requests: { [HOSTILE]: { total: 1, busiest: 1, limit: 2, windowMs: 1000 } },
      },
      possible: [{ queue: HOSTILE, what: HOSTILE, unit: HOSTILE, reached: 3, possible: 2, kind: 'optimum' }],
    })),
  })),
})

describe('an HTML report', () => {
  test('an HTML report is one file without scripts and requests, for any names', async () => {
    const runs = [{ p90: 1000 }, { p90: 1200 }]
    const text = await reportHtml(hostile(resultOf({ [HOSTILE]: runs, 'b.yaml': runs })))
    const { document } = parseHTML(text)
    expect(document.querySelectorAll('script, img, link, iframe, object, form, foreignObject')).toHaveLength(0)
    expect(document.querySelectorAll('style')).toHaveLength(1)
    const attributes = [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes])
    expect(attributes.filter(({ name }) => /^on|^href|^src|^style$/.test(name))).toEqual([])
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/\bhttps?:|url\(/)
    const policy = document.querySelector('meta[http-equiv=Content-Security-Policy]')?.getAttribute('content')
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'; form-action 'none'$/)
    // Names must be shown unchanged.
    for (const place of [
      'h1 + ul',
      '#short ~ p',
      '#queues ~ h3',
      '#queues ~ ul',
      '#served ~ .scroll',
      '#pools ~ .scroll',
      '#possible ~ .scroll',
    ])
      expect(document.querySelector(place)?.textContent, place).toContain(HOSTILE)
  })

  test('an HTML report has a labelled picture of each plot and a caption for each table', async () => {
    const { document } = parseHTML(await reportHtml(resultOf({ a: [{}], b: [{}] })))
    const figures = [...document.querySelectorAll('figure')]
    expect(figures.map((figure) => figure.querySelector('strong')?.textContent)).toEqual([
      'Matched by waiting time',
      'Skill spread in a match against waiting',
      'How even matches are',
      'Matched by region',
      'Waiting by region',
      'Matched by skill',
      'Waiting by skill',
      'Who pays, by region',
      'Who pays, by skill',
      'Requests beside their limits',
    ])
    for (const figure of figures) {
      const pictures = [...figure.querySelectorAll('svg')]
      expect(pictures.map((svg) => svg.getAttribute('class'))).toEqual(['plot wide-plot', 'plot narrow'])
      for (const svg of pictures) {
        expect(svg.getAttribute('aria-label')).toContain(figure.querySelector('strong')?.textContent)
        expect(svg.outerHTML).not.toMatch(/NaN|undefined|Infinity/)
      }
    }
    for (const table of document.querySelectorAll('table')) expect(table.querySelector('caption')).not.toBeNull()
    expect(document.querySelector('#short ~ p')?.textContent).toContain('With one seed')
  })
})

test('an HTML report averages the players of a group over all seeds, also those without the group', async () => {
  const result = resultOf({ a: [{}, {}, {}, {}] })
  const variants = result.variants.map((variant) => ({
    ...variant,
    runs: variant.runs.map(({ figures }, seed) => {
      const { Asia: some = figures.all, ...others } = figures.by.region
      const region = seed === 0 ? { ...others, Asia: { ...some, players: 8 } } : others
      return { figures: { ...figures, by: { ...figures.by, region } } }
    }),
  }))
  const { document } = parseHTML(await reportHtml({ ...result, variants }))
  const rows = Array.from(document.querySelectorAll('#served ~ .scroll tr'))
  const cells = rows.find((row) => row.textContent.includes('Asia'))?.querySelectorAll('td')
  expect(cells?.[0]?.textContent.trim()).toBe('2')
})

test('the HTML page of a search shows the Pareto front, the chosen schedule and the patch', async () => {
  const front = [1, 2, 3].map((at) => ({ waitP90Ms: at * 10_000, cost: 4 - at, keeps: at < 3 }))
  const patch = '--- a.yaml\n+++ a.yaml\n+ value: <5>'
  const given = { title: `Tuned ${HOSTILE}`, sentences: [HOSTILE], promisedMs: 25_000, patch }
  const text = await frontHtml({
    ...given,
    front: front.map((point, at) => (at === 1 ? { ...point, is: 'best' as const } : point)),
  })
  const { document } = parseHTML(text)
  expect(document.querySelectorAll('script, img')).toHaveLength(0)
  expect(document.querySelector('pre')?.textContent.trim()).toBe(patch)
  expect(document.querySelector('svg')?.textContent).toMatch(/promised.*chosen/)
  expect(text).not.toMatch(/NaN|undefined|Infinity/)
  expect(await frontHtml({ ...given, front: [] })).not.toMatch(/NaN|undefined|Infinity/)
})
