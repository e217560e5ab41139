import { expect, test } from 'vitest'
import { html, markup } from './html.js'

test('html`` escapes values between tags and in attributes', () => {
  const evil = `</td><script>alert('1' & "2")</script>`
  expect(html`<td title="${evil}">${evil}</td>`.markup).toBe(
    '<td title="&#60;/td&#62;&#60;script&#62;alert(&#39;1&#39; &#38; &#34;2&#34;)&#60;/script&#62;">' +
      '&#60;/td&#62;&#60;script&#62;alert(&#39;1&#39; &#38; &#34;2&#34;)&#60;/script&#62;</td>',
  )
})

test('html`` keeps markup made by itself, joins lists, and prints undefined as empty', () => {
  const items = ['a', '<'].map((item) => html`<li>${item}</li>`)
  expect(html`<ul>${items}${undefined}</ul>${markup('<hr>')}${0}`.markup).toBe('<ul><li>a</li><li>&#60;</li></ul><hr>0')
})
