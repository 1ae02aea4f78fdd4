import { isJsonObject } from '@sluice/core';
import type { AuthorizationContext, JsonValue } from '@sluice/core';
import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Declared, DeclaredContext, DeclaredRecord } from './declared.js';
import { contextParts } from './declared.js';
import type { ContextPart } from './declared.js';

/** What Cedar is given of a call, or what of it is not as the schema declares it. */
type Given =
  | { readonly fits: true; readonly context: Readonly<Record<string, CedarValueJson>> }
  | { readonly fits: false; readonly part: ContextPart; readonly name: string };

type Values = Readonly<Record<string, CedarValueJson>>;
/** The value as Cedar has it, or nothing where it does not fit. */
type Fitted = { readonly value: CedarValueJson } | undefined;

const decimalForm = /^-?\d{1,15}(?:\.\d{1,4})?$/;
const wholeForm = /^-?\d{1,16}$/;

/**
 * What of a call the context of an action declares. A value that is there and is not of its type fits nothing, since a
 * policy that forbids could not see it; what is not declared is left out.
 */
export function givenContext(declared: DeclaredContext, context: AuthorizationContext): Given {
  const given: Record<string, CedarValueJson> = {};
  for (const part of contextParts) {
    const type = declared[part]?.type;
    if (type?.kind !== 'record' || context[part] === undefined) continue;
    const found = read[part](type, context);
    if (typeof found === 'string') return { fits: false, part, name: found };
    given[part] = found;
  }
  return { fits: true, context: given };
}

/** How each part is read: its values, or the name of the one that does not fit. */
const read: Readonly<Record<ContextPart, (type: DeclaredRecord, context: AuthorizationContext) => Values | string>> = {
  arguments: (type, { arguments: args = null }) =>
    isJsonObject(args) ? attributesOf(type, (name) => valueOf(args, name), fitted) : '',
  claims: (type, { claims = {} }) => attributesOf(type, (name) => valueOf(claims, name) ?? noClaim, fittedClaim),
  facts: (type, { facts = {} }) => attributesOf(type, (name) => valueOf(facts, name), fittedText),
};

function valueOf<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** A claim that is not on the record: the run began before the configuration asked for it. */
const noClaim = Symbol('no claim');
/** Of a claim that the caller does not have. */
const absent = Symbol('absent');

function attributesOf<T>(
  { attributes }: DeclaredRecord,
  valueOfName: (name: string) => T | undefined,
  fit: (type: Declared, value: T) => Fitted | typeof absent,
): Values | string {
  const values: [string, CedarValueJson][] = [];
  for (const [name, { type, isRequired }] of attributes) {
    const value = valueOfName(name);
    const one = value === undefined ? absent : fit(type, value);
    if (one === undefined || (one === absent && isRequired)) return name;
    if (one !== absent) values.push([name, one.value]);
  }
  return Object.fromEntries(values);
}

function fitted(type: Declared, value: JsonValue): Fitted {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string' && value.isWellFormed() ? { value } : undefined;
    case 'whole':
      return Number.isSafeInteger(value) ? { value: value as number } : undefined;
    case 'truth':
      return typeof value === 'boolean' ? { value } : undefined;
    case 'decimal':
      return typeof value === 'number' || typeof value === 'string' ? decimal(String(value)) : undefined;
    case 'set': {
      if (!Array.isArray(value)) return undefined;
      const items = (value as readonly JsonValue[]).map((item) => fitted(type.of, item));
      return items.includes(undefined) ? undefined : { value: items.flatMap((item) => (item ? [item.value] : [])) };
    }
    case 'record': {
      if (!isJsonObject(value)) return undefined;
      const values = attributesOf(type, (name) => valueOf(value, name), fitted);
      return typeof values === 'string' ? undefined : { value: values };
    }
    case 'other':
      return undefined;
  }
}

/** A claim: all its values for a Set, else its only one. */
function fittedClaim(type: Declared, values: readonly string[] | typeof noClaim): Fitted | typeof absent {
  if (values === noClaim) return undefined;
  if (type.kind === 'set') {
    const items = values.map((value) => fittedText(type.of, value));
    return items.includes(undefined) ? undefined : { value: items.flatMap((item) => (item ? [item.value] : [])) };
  }
  const [value] = values;
  if (value === undefined) return absent;
  return values.length === 1 ? fittedText(type, value) : undefined;
}

/** A value that is on record as text: as it is for a String, else what it says. */
function fittedText(type: Declared, text: string): Fitted {
  switch (type.kind) {
    case 'text':
      return fitted(type, text);
    case 'whole':
      return wholeForm.test(text) ? fitted(type, Number(text)) : undefined;
    case 'truth':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : undefined;
    case 'decimal':
      return decimal(text);
    default:
      return fittedJson(type, text);
  }
}

function fittedJson(type: Declared, text: string): Fitted {
  try {
    return fitted(type, JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

/** Cedar's decimals have four places, and always one. */
function decimal(text: string): Fitted {
  if (!decimalForm.test(text) || Math.abs(Number(text)) > 922_337_203_685_477) return undefined;
  return { value: { __extn: { fn: 'decimal', arg: text.includes('.') ? text : `${text}.0` } } };
}
