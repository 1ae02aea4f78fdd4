import { typeOf } from './api-pages.mjs';
import { anchorOf, cell, changeLinks, plain } from './markdown.mjs';

/**
 * Every key of the configuration, from its JSON Schema, section by section. Defaults, which the schema does not have,
 * are those of the tables in docs/configuration.md.
 */
export function keyPage(schema, guide) {
  const sections = sectionsOf('', schema);
  const defaults = defaultsOf(guide);
  const headings = new Map([...guide.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => [pathOf(heading), heading]));
  return [
    '# Configuration: every key',
    '',
    'Each key of the configuration file with its type, limits and default. This page is generated from the [JSON Schema](/configuration.schema.json) by which editors complete and check keys; [Configuration](../configuration.md) explains them, with examples.',
    '',
    ['```sh', 'sluice config schema > configuration.schema.json', '```', ''].join('\n'),
    ...sections.flatMap(({ path, keys }) => {
      const heading = headings.get(path);
      return [
        `## ${heading ?? `\`${path}\``}`,
        '',
        ...(heading === undefined ? [] : [`[Explained](../configuration.md#${anchorOf(heading)})`, '']),
        '| key | type | default | meaning |',
        '| --- | --- | --- | --- |',
        ...keys.map(({ key, types, meaning }) => {
          const usual = defaults.get(path)?.get(key) ?? '';
          return `| \`${key}\` | ${cell(types)} | ${usual} | ${cell(plain(meaning))} |`;
        }),
        '',
      ];
    }),
  ].join('\n');
}

/** The section at a path and those within it, each with its keys. */
function sectionsOf(path, { properties }) {
  const inner = [];
  const keys = Object.entries(properties).map(([key, { description, anyOf }]) => {
    const forms = anyOf.filter(({ type }) => type !== 'null');
    const place = path === '' ? key : `${path}.${key}`;
    // A list of sections has the keys of the map of them, where there are both.
    const found = forms.flatMap((form) => objectsIn(place, form));
    const isMap = found.some((one) => one.path.endsWith('<name>'));
    for (const one of found.filter((each) => !isMap || !each.path.endsWith('[]')))
      if (!inner.some(({ path: known }) => known === one.path)) inner.push(one);
    return { key, types: [...new Set(forms.map(formName))].join(' or '), meaning: description };
  });
  return [{ path, keys }, ...inner.flatMap(({ path: place, schema }) => sectionsOf(place, schema))];
}

/** Objects with keys of their own, in this form of a value or in the items of its list or map. */
function objectsIn(path, form) {
  if (form.properties !== undefined) return [{ path, schema: form }];
  const items = form.items ?? (typeof form.additionalProperties === 'object' ? form.additionalProperties : undefined);
  if (items === undefined) return [];
  const place = form.items === undefined ? `${path}.<name>` : `${path}[]`;
  return (items.anyOf ?? [items]).filter(({ type }) => type !== 'null').flatMap((one) => objectsIn(place, one));
}

/** `map`, `list` or `section` for what has keys of its own, which stand in a section of the page. */
function formName(form) {
  if (form.$ref !== undefined) return 'map of groups';
  if (form.properties !== undefined) return 'section';
  const hasKeys = objectsIn('', form).length > 0;
  if (form.items !== undefined && hasKeys) return 'list of sections';
  if (typeof form.additionalProperties === 'object' && hasKeys) return 'map of sections';
  if (/^\^\[0-9\]\+\(\[\.\]/.test(form.pattern ?? '')) return 'a duration such as `90s`';
  return plain(typeOf(withoutNull(form)));
}

/** That a key may be left empty is said once, not at each. */
function withoutNull(schema) {
  if (schema.anyOf !== undefined) {
    const forms = schema.anyOf.filter(({ type }) => type !== 'null').map(withoutNull);
    return forms.length === 1 ? forms[0] : { ...schema, anyOf: forms };
  }
  if (schema.items !== undefined) return { ...schema, items: withoutNull(schema.items) };
  if (typeof schema.additionalProperties === 'object')
    return { ...schema, additionalProperties: withoutNull(schema.additionalProperties) };
  return schema;
}

/** By path of the section and key: the third cell of the tables in docs/configuration.md. */
function defaultsOf(guide) {
  const parts = guide.split(/^## /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = ''] = part.split('\n', 1);
      const rows = [...part.matchAll(/^\| `([\w-]+)` \|[^|]*\|([^|]*)\|/gm)];
      return [pathOf(heading), new Map(rows.map(([, key, usual]) => [key, fromReference(usual.trim())]))];
    }),
  );
}

/** The path of a section by its heading in the guide; names that an author chooses are all `<name>`. */
const pathOf = (heading) => (heading === 'The file' ? '' : heading.replaceAll('`', '').replaceAll(/<\w+>/g, '<name>'));

/** A text of docs/configuration.md as this page, in a folder beside it, has it. */
const fromReference = (text) =>
  changeLinks(text, (target) => (target.startsWith('#') ? `../configuration.md${target}` : `../${target}`));
