import { BASE, QUEUES, SERVICE, type WrongFile } from './wrong-files.fixture.js'

/** Files that are not YAML, or use unsupported parts of it. */
export const WRONG_YAML: readonly WrongFile[] = [
  { what: 'a duplicate key', text: `${BASE}name: a\nname: b\n`, says: ['7:1 name: is a duplicate key'] },
  {
    what: 'a tab',
    text: `${BASE}spending:\n\tmaxServers: 5\n`,
    says: ['7:1 : is indented by a tab: YAML requires spaces'],
  },
  {
    what: 'two documents',
    text: `${BASE}---\n${BASE}`,
    says: ['6:1 : begins a second document, but a configuration is one document'],
  },
  {
    what: 'a list that is not closed',
    text: `${BASE}cors: { origins: [a, b }\n`,
    says: ['6:24 : has a [ without its ]'],
  },
  {
    what: 'a quote that is not closed',
    text: `name: "my-game\n${BASE}`,
    says: ['1:7 : has a quote that is not closed'],
  },
  {
    what: 'a second colon in an unquoted value',
    text: `name: my: game\n${BASE}`,
    says: ['1:7 : has a second colon: a text with a colon must be in quotes'],
  },
  {
    what: 'a wrong indentation',
    text: `${SERVICE}\nqueues:\n  - name: duel\n   matchSize: 2\n`,
    says: ['4:1 : is not indented like the entry that it belongs to, or lacks the - of an entry'],
  },
  {
    what: 'an unquoted value that begins with @',
    text: `${SERVICE}\nqueues:\n  - name: @duel\n`,
    says: ['3:11 : begins with @, so it must be in quotes'],
  },
  {
    what: 'a YAML tag',
    text: `service: { url: https://service.example, token: !env TOKEN }\n${QUEUES}\n`,
    says: ['1:49 : has a tag, and tags are not known here: a secret is { env: NAME } or { file: path }'],
  },
  {
    what: 'an alias without an anchor',
    text: `${BASE}spending: *bounds\n`,
    says: ['6:11 spending: is an alias without an anchor before it; a text that begins with * must be in quotes'],
  },
  {
    what: 'an alias of itself',
    text: `${BASE}spending: &a { maxServers: *a }\n`,
    says: ['6:28 spending.maxServers: is an alias of a value that contains it'],
  },
  {
    what: 'the key __proto__',
    text: `${BASE}__proto__: { polluted: true }\n`,
    says: ['6:1 __proto__: is not allowed as a name'],
  },
  {
    what: 'a merge of a value that is not a mapping',
    text: `${BASE}spending:\n  <<: 5\n`,
    says: ['7:3 spending.<<: must be an alias of a mapping'],
  },
  {
    what: 'another YAML version',
    text: `%YAML 1.1\n---\n${BASE}`,
    says: ['1:1 : requires a YAML version other than 1.2'],
  },
  {
    what: 'a control character',
    text: `name: a\u{0}b\n${BASE}`,
    says: ['1:8 : has a control character, which no text file has'],
  },
]
