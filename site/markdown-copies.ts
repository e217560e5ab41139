import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { mapLinks, root, siteHref, sitePath, titleOf } from './links.js'

/** Returns the first sentence of a page's prose. */
function summaryOf(text: string): string {
  const prose = text
    .replace(/^---\n[^]*?\n---\n/, '')
    .replace(/^```[^]*?^```$/gm, '')
    .split(/\n\s*\n/)
    .find((part) => /^[A-Z`*[]/.test(part.trim()))
  return (
    (prose ?? '')
      .replace(/\s+/g, ' ')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .split(/(?<=\.) /)[0] ?? ''
  )
}

/** Returns a page as Markdown. Links to pages lead to their Markdown, and other links to the repository on the web. */
function copyOf(page: string): string {
  const source = page.endsWith('generated/index.md') ? 'README.md' : page
  const text = readFileSync(`${root}${source}`, 'utf8')
  return mapLinks(text, (href) => siteHref(source, href).replace(/^(\/http\/[\w-]+\/|\/decisions\/)$/, '$1index.md'))
}

/**
 * Writes each page as Markdown beside its HTML, `llms.txt` (every page with its first sentence) and `llms-full.txt`
 * (the text of all pages except those of the TypeScript API and the decisions).
 */
export function writeMarkdownCopies(outDir: string, pages: readonly string[]): void {
  const groups = new Map<string, string[]>()
  let full = ''
  for (const page of pages) {
    const path = sitePath(page)
    const text = copyOf(page)
    mkdirSync(dirname(`${outDir}/${path}`), { recursive: true })
    writeFileSync(`${outDir}/${path}`, text)
    const folder = ['api', 'decisions', 'http'].find((name) => path.startsWith(`${name}/`)) ?? 'guides'
    // Of the TypeScript API, only the entry points are listed. Each of them lists its names.
    if (folder !== 'api' || path.endsWith('index.md'))
      groups.set(folder, [...(groups.get(folder) ?? []), `- [${titleOf(text)}](/${path}): ${summaryOf(text)}\n`])
    if (folder === 'guides' || folder === 'http') full += `${text}\n\n`
  }
  const names = { guides: 'Documentation', http: 'HTTP APIs', api: 'TypeScript API', decisions: 'Decisions' }
  const sections = Object.entries(names).map(([folder, name]) => `## ${name}\n\n${(groups.get(folder) ?? []).join('')}`)
  const intro = summaryOf(readFileSync(`${root}README.md`, 'utf8'))
  writeFileSync(`${outDir}/llms.txt`, `# Muster\n\n> ${intro}\n\n${sections.join('\n')}`)
  writeFileSync(`${outDir}/llms-full.txt`, full)
}
