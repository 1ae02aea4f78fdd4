import type { Field } from './fields.js';

/** What stands in a form: texts as they were typed, lists and objects of them. An empty text is a value left out. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft };

export interface FieldProblem {
  /** Names and places from the outside in, such as `filter.0.name`. */
  readonly path: string;
  readonly message: string;
}

interface Read {
  /** Undefined for a value that is left out. */
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
}

export const pathOf = (outer: string, name: string | number): string => (outer === '' ? `${name}` : `${outer}.${name}`);

/** A JSON pointer of the gateway as the path of a field. */
export function pathOfPointer(pointer: string): string {
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(pathOf, '');
}

/** A form filled with this value; what the value lacks stands as the schema’s default. */
export function draftOf(field: Field, value: unknown): Draft {
  const given = value ?? field.start;
  switch (field.kind) {
    case 'object':
      return draftOfFields(field.fields, given);
    case 'list':
      return Array.isArray(given) ? given.map((item: unknown) => draftOf(field.item, item)) : [];
    case 'choice': {
      const place = field.options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(given));
      return place < 0 ? '' : String(place);
    }
    case 'json':
      if (given === undefined) return '';
      return field.takesText && typeof given === 'string' && !isJson(given) ? given : JSON.stringify(given, null, 2);
    default:
      return given === undefined || given === null ? '' : String(given as string | number | boolean);
  }
}

export function draftOfFields(fields: readonly Field[], value: unknown): Readonly<Record<string, Draft>> {
  const given = typeof value === 'object' && value !== null ? value : {};
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      draftOf(field, Object.hasOwn(given, field.name) ? (given as Record<string, unknown>)[field.name] : undefined),
    ]),
  );
}

/** The arguments that a form holds, or what is wrong with it. */
export function argumentsOf(fields: readonly Field[], draft: Draft): Read {
  return readFields(fields, draft, '');
}

function readFields(fields: readonly Field[], draft: Draft, path: string): Read {
  const read = fields.map((field) => ({
    field,
    ...readField(field, partOf(draft, field.name), pathOf(path, field.name)),
  }));
  return {
    value: Object.fromEntries(
      read.filter(({ value }) => value !== undefined).map(({ field, value }) => [field.name, value]),
    ),
    problems: read.flatMap(({ problems }) => problems),
  };
}

function readField(field: Field, draft: Draft, path: string): Read {
  if (field.kind === 'object') {
    if (!field.isRequired && isEmpty(draft)) return { value: undefined, problems: [] };
    return readFields(field.fields, draft, path);
  }
  if (field.kind === 'list') {
    const items = Array.isArray(draft) ? (draft as readonly Draft[]) : [];
    if (items.length === 0 && !field.isRequired) return { value: undefined, problems: [] };
    const read = items.map((item, place) => readField(field.item, item, pathOf(path, place)));
    return { value: read.map(({ value }) => value), problems: read.flatMap(({ problems }) => problems) };
  }
  const text = typeof draft === 'string' ? draft : '';
  if (field.kind === 'boolean' && field.isRequired) return { value: text === 'true', problems: [] };
  if (text === '')
    return { value: undefined, problems: field.isRequired ? [{ path, message: 'It is required.' }] : [] };
  const found = readText(field, text);
  return 'message' in found
    ? { value: undefined, problems: [{ path, message: found.message }] }
    : { value: found.value, problems: [] };
}

function readText(field: Field, text: string): { readonly value: unknown } | { readonly message: string } {
  switch (field.kind) {
    case 'number': {
      const value = Number(text);
      const kind = field.isInteger ? 'a whole number' : 'a number';
      if (!Number.isFinite(value) || (field.isInteger && !Number.isInteger(value)))
        return { message: `Write ${kind}.` };
      if (field.min !== null && value < field.min) return { message: `It is ${field.min} at least.` };
      if (field.max !== null && value > field.max) return { message: `It is ${field.max} at most.` };
      return { value };
    }
    case 'boolean':
      return { value: text === 'true' };
    case 'choice':
      return { value: field.options[Number(text)]?.value };
    case 'json':
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        if (field.takesText) return { value: text };
        return { message: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
      }
    default:
      return { value: text };
  }
}

/** The part of an object’s draft; an empty text where there is none. */
export function partOf(draft: Draft, name: string): Draft {
  if (typeof draft !== 'object' || Array.isArray(draft) || !Object.hasOwn(draft, name)) return '';
  return (draft as Readonly<Record<string, Draft>>)[name] ?? '';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isEmpty(draft: Draft): boolean {
  if (typeof draft === 'string') return draft === '';
  return Object.values(draft).every(isEmpty);
}
