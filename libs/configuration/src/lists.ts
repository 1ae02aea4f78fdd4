import { quote } from '@sluice/core';
import type { JsonValue, ListSettings, Lists } from '@sluice/core';
import type { AuthorizationFiles } from './authorization-files.js';
import { configurationKeys } from './keys.js';
import { readLookup } from './list-lookup.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** Values of a list, and characters of each: they travel with the configuration. */
const mostValues = 10_000;
const longestValue = 1_000;

/**
 * `lists`: values that bounds name, written out, or a line each in a file, which is read now, or such as executors read
 * while they run.
 */
export function readLists(section: Section, files: Pick<AuthorizationFiles, 'read'>): Lists {
  return Object.fromEntries(section.keys().map((name) => [name, readList(section, name, files)]));
}

function readList(section: Section, name: string, files: Pick<AuthorizationFiles, 'read'>): ListSettings {
  const value = section.value(name);
  const own = Array.isArray(value) ? null : section.section(name).closed(configurationKeys['lists.<list>']);
  if (own?.has('lookup') === true) {
    if (own.has('file')) own.problem(own.at('lookup'), 'a lookup beside `file`', 'one of them: where the values are');
    return { lookup: readLookup(own.section('lookup')) };
  }
  const values = own === null ? readValues(section, name) : readFile(own, files);
  if (section.usable && values.length === 0 && Array.isArray(value))
    section.problem(section.at(name), 'an empty list', 'its values, or take out what names the list');
  if (values.length > mostValues)
    section.problem(section.at(name), `${String(values.length)} values`, `at most ${String(mostValues)}`);
  return { values };
}

/** A list of texts, numbers and booleans; repeats count once. */
export function readValues(section: Section, key: string): readonly JsonValue[] {
  const values = new Set<JsonValue>();
  (section.items(key, 'a list of texts and numbers') ?? []).forEach((item, place) => {
    const scalar = scalarOf(item);
    if (scalar !== null) values.add(scalar);
    else section.problem(section.itemAt(key, place), describe(item), 'a text, a number, `true` or `false`');
  });
  return [...values];
}

/** What an argument can be compared with; null for anything else. */
export function scalarOf(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return value.length <= longestValue ? value : null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : null;
}

function readFile(section: Section, files: Pick<AuthorizationFiles, 'read'>): readonly string[] {
  const write = 'the path of a file with a value on each line';
  const path = section.text('file', write);
  if (path === null) {
    if (section.usable && !section.has('file'))
      section.problem(section.path, 'no value', `a list, \`lookup\` or \`file\`: ${write}`);
    return [];
  }
  const file = files.read(path);
  if ('error' in file) {
    section.problem(section.at('file'), `the file ${quote(path)}, which cannot be read: ${file.error}`, write);
    return [];
  }
  const lines = file.text.split('\n').map((line) => line.trim());
  const values = [...new Set(lines.filter((line) => line !== ''))];
  const long = values.find((line) => line.length > longestValue);
  if (long !== undefined || values.length === 0) {
    const found = long === undefined ? 'no line' : `a line of ${String(long.length)} characters`;
    section.problem(section.at('file'), `the file ${quote(path)} with ${found}`, write);
  }
  return values;
}
