import { createHash } from 'node:crypto';
import { httpErrors } from '@sluice/core';
import { anchorOfCode } from '../problem.js';
import { refusalMeanings, refusalsOf } from './document.js';
import { operations } from './operations.js';
import type { Operation } from './operation.js';
import type { JsonSchema } from './json-schema.js';

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin-top: 2.5rem; }
code { font: 0.9em ui-monospace, monospace; background: var(--soft); padding: 0.1em 0.3em; border-radius: 3px; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
`;

/** Nothing but this style, from here: the page asks no other address, runs no script and stands in no frame. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** The description as a page for people, with no script and no other file. */
export function page(schemas: Readonly<Record<string, JsonSchema>>): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice: asking over HTTP</title>
<style>${style}</style>
</head>
<body>
<h1>Sluice: asking over HTTP</h1>
<p>For programs this page is at <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). Send your credential in the header
<code>authorization: Bearer …</code>, unless no identity is configured, and bodies as <code>content-type: application/json</code>.</p>
<ul>${operations.map(({ id, method, path, summary }) => `<li><a href="#${id}"><code>${method.toUpperCase()} ${html(path)}</code></a> ${prose(summary)}</li>`).join('\n')}</ul>
${tags
  .map(
    (tag) =>
      `<h2>${html(tag)}</h2>\n${operations
        .filter((one) => one.tag === tag)
        .map(section)
        .join('\n')}`,
  )
  .join('\n')}
<h2>Errors</h2>
${errors()}
<h2>Schemas</h2>
${Object.entries(schemas)
  .map(([name, schema]) => schemaSection(name, schema))
  .join('\n')}
</body>
</html>
`;
}

function section(operation: Operation): string {
  const { id, method, path, summary, description = '', body, places = {}, query = {}, headers = {} } = operation;
  const rows = [
    ...Object.entries(places).map(([name, meaning]) => [code(name), 'in the path', prose(meaning)]),
    ...Object.entries(query).map(([name, meaning]) => [code(name), 'in the query', prose(meaning)]),
    ...Object.entries(headers).map(([name, meaning]) => [code(name), 'header', prose(meaning)]),
  ];
  return `<section id="${id}">
<h3><code>${method.toUpperCase()} ${html(path)}</code></h3>
<p>${prose(summary)}. ${prose(description)}</p>
${rows.length === 0 ? '' : table(['parameter', '', 'meaning'], rows)}
${body === undefined ? '' : `<p>The body is ${link(body)}.</p>`}
${table(['status', 'answer', 'meaning'], answersOf(operation))}
</section>`;
}

function answersOf(operation: Operation): readonly (readonly string[])[] {
  return [
    ...Object.entries(operation.answers).map(([status, { meaning, json, others = {} }]) => [
      code(status),
      [...(json === undefined ? [] : [link(json)]), ...Object.keys(others).map(code)].join(', '),
      prose(meaning),
    ]),
    ...refusalsOf(operation).map((status) => [
      code(String(status)),
      link('Problem'),
      prose(refusalMeanings[status] ?? ''),
    ]),
  ];
}

function errors(): string {
  const rows = Object.entries(httpErrors).map(([code, { meaning, remedy }]) => [
    `<code id="${anchorOfCode(code)}">${code}</code>`,
    prose(meaning),
    prose(remedy),
  ]);
  return table(['code', 'meaning', 'what to do'], rows);
}

function schemaSection(name: string, schema: JsonSchema): string {
  const { description = '', properties = {}, required = [] } = schema as Partial<Described>;
  const rows = Object.entries(properties).map(([property, member]) => [
    code(property),
    `${typeOf(member)}${required.includes(property) ? '' : ', optional'}`,
    prose(String(member['description'] ?? '')),
  ]);
  return `<section id="schema-${name}">\n<h3>${html(name)}</h3>\n<p>${prose(description)}</p>\n${table(['field', 'type', 'meaning'], rows)}\n</section>`;
}

interface Described {
  readonly description: string;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

function typeOf(schema: JsonSchema): string {
  const { $ref, type, items, anyOf, enum: values } = schema as Readonly<Record<string, unknown>>;
  if (typeof $ref === 'string') return link($ref.split('/').at(-1) ?? '');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as JsonSchema)).join(' or ');
  if (type === 'array') return `list of ${typeOf(items as JsonSchema)}`;
  if (Array.isArray(type)) return html(type.join(' or '));
  if (typeof type === 'string') return html(type);
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(' or ');
  return 'const' in schema ? code(String(schema['const'])) : 'anything';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], cell: string): string =>
    `<tr>${cells.map((one) => `<${cell}>${one}</${cell}>`).join('')}</tr>`;
  return `<table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('\n')}</table>`;
}

function link(schema: string): string {
  return `<a href="#schema-${html(schema)}">${html(schema)}</a>`;
}

function code(text: string): string {
  return `<code>${html(text)}</code>`;
}

/** A sentence, in which what stands in backticks is code. */
function prose(text: string): string {
  return html(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
