import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { stringify } from 'yaml';
import { values } from './values.ts';
import type { Members, Section, Value } from './values.ts';

/** `npm run generate`: writes the chart's values, their schema and their page from values.ts. */
const root = join(import.meta.dirname, '../..');
const isSection = (one: Value | Section): one is Section => 'members' in one;

function schemaOf(members: Members): Readonly<Record<string, unknown>> & { readonly properties: object } {
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, one]) => [
      name,
      isSection(one)
        ? { description: one.about, ...schemaOf(one.members) }
        : { description: one.about, ...one.schema, default: one.value },
    ]),
  );
  return { type: 'object', additionalProperties: false, properties };
}

/** Comments at the width of the page. */
function comment(text: string, indent: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1) ?? ''} ${word}`;
    if (indent.length + line.length > 118) lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => `${indent}#${line}\n`).join('');
}

const plain = (text: string): string => text.replaceAll('`', '');

function yamlOf(members: Members, depth = 0): string {
  const indent = '  '.repeat(depth);
  return Object.entries(members)
    .map(([name, one]) => {
      const said = comment(plain(one.about), indent);
      if (isSection(one))
        return `${said}${indent}${name}:\n${yamlOf(one.members, depth + 1)}${depth === 0 ? '\n' : ''}`;
      return `${said}${indent}${stringify({ [name]: one.value }, { collectionStyle: 'flow', lineWidth: 0 }).replace(/^\{ (.*) \}\n$/, '$1')}\n`;
    })
    .join('');
}

interface Row {
  readonly path: string;
  readonly value: string;
  readonly about: string;
}

function rowsOf(members: Members, path: string): readonly Row[] {
  return Object.entries(members).flatMap(([name, one]) => {
    const here = `${path}${name}`;
    if (!isSection(one)) return [{ path: here, value: JSON.stringify(one.value), about: one.about }];
    const inside = rowsOf(one.members, `${here}.`);
    return inside;
  });
}

/** One table for sections that are alike: a value that differs is said of those that have it. */
function rowsOfAlike({ members, alike = '' }: Section, name: string): readonly Row[] {
  const all = Object.entries(members).map(
    ([key, one]) => [key, isSection(one) ? rowsOf(one.members, `${name}.<${alike}>.`) : []] as const,
  );
  const rows = new Map(all.flatMap(([, list]) => list.map((row) => [row.path, row] as const)));
  return [...rows.values()].map((row) => {
    const found = all.flatMap(([key, list]) =>
      list.filter(({ path }) => path === row.path).map((one) => [key, one] as const),
    );
    const others = found.filter(([, one]) => one.value !== row.value);
    const only = found.length < all.length ? `Of ${found.map(([key]) => key).join(', ')}: ` : '';
    const differ =
      others.length === 0 ? '' : `; ${others.map(([key]) => key).join(', ')}: ${others[0]?.[1].value ?? ''}`;
    return { ...row, value: row.value, about: `${only}${row.about}${differ === '' ? '' : ` (${differ.slice(2)})`}` };
  });
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ path, value, about }) => `| \`${path}\` | ${value === '""' ? '' : `\`${cell(value)}\``} | ${cell(about)} |`,
  );
  return `| value | default | meaning |\n| --- | --- | --- |\n${lines.join('\n')}\n`;
}

function pageOf(members: Members): string {
  const single = Object.entries(members).filter(([, one]) => !isSection(one)) as (readonly [string, Value])[];
  const sections = Object.entries(members).filter(([, one]) => isSection(one)) as (readonly [string, Section])[];
  const first = tableOf(single.map(([path, { about, value }]) => ({ path, value: JSON.stringify(value), about })));
  const rest = sections.map(
    ([name, one]) =>
      `## ${name}\n\n${one.about}\n\n${tableOf(one.alike === undefined ? rowsOf(one.members, `${name}.`) : rowsOfAlike(one, name))}`,
  );
  return [
    '# Values of the Helm chart',
    '<!-- Written by `npm run generate` from ops/chart/values.ts. -->',
    'What the chart can be given by `--values` and `--set`. [Running it on Kubernetes](operations.md#on-kubernetes) says how it is\ninstalled. A value that is not here is refused, and so is one of another form.',
    first,
    ...rest,
  ]
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

const heading = comment(
  'Values of the chart of Sluice, with what they mean. Written by `npm run generate` from ops/chart/values.ts; docs/chart.md has the same as a page.',
  '',
);

/** The generated files by their path from the project's root. */
export async function files(): Promise<Readonly<Record<string, string>>> {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart of Sluice',
    ...schemaOf(values),
  };
  const properties = {
    ...schema.properties,
    global: { type: 'object', description: 'Of a chart that has this one as a part.' },
  };
  const written = {
    'ops/chart/values.yaml': `${heading}\n${yamlOf(values)}`,
    'ops/chart/values.schema.json': JSON.stringify({ ...schema, properties }),
    'docs/chart.md': pageOf(values),
  };
  const formatted = Object.entries(written).map(async ([path, content]) => {
    if (path.endsWith('.md')) return [path, content] as const;
    const filepath = join(root, path);
    return [path, await format(content, { ...(await resolveConfig(filepath)), filepath })] as const;
  });
  return Object.fromEntries(await Promise.all(formatted));
}

if (import.meta.main) {
  for (const [path, content] of Object.entries(await files())) writeFileSync(join(root, path), content);
  console.log('The values of the chart in ops/chart, and docs/chart.md');
}
