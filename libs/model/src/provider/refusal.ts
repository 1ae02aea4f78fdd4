import { printable } from '@sluice/core';
import type { ModelTool } from '@sluice/core';

/** Characters of a provider’s sentence that are repeated. */
const shownCharacters = 300;

/** Shapes of keys and tokens: a provider may repeat one that a proxy in between has added. */
const credentials = [
  /\bBearer\s+[\w.~+/=-]+/gi,
  /\beyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?/g,
  /\b(?:sk|pk|rk|xai|gsk|hf|ghp|xox[a-z])[-_][\w*-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
];

/** Removes these secrets from a text, and whatever looks like one. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  return (text) => {
    const without = known.reduce((left, secret) => left.replaceAll(secret, '(hidden)'), text);
    return credentials.reduce((left, form) => left.replaceAll(form, '(hidden)'), without);
  };
}

/** A provider’s own sentence as it may stand in a message: without secrets, on one line, and not too long. */
export function quoted(sentence: string, hide: (text: string) => string): string {
  const line = printable(hide(sentence)).replaceAll(/\s+/g, ' ').trim();
  return `“${line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line}”`;
}

/**
 * The tool that a provider’s sentence is about: one that it names, or one at the place that it names among those
 * sent. Undefined where it does neither.
 */
export function toolNamed(sentence: string, tools: readonly ModelTool[]): string | undefined {
  const named = tools.map(({ id }) => id).filter((id) => holdsName(sentence, id));
  if (named.length > 0) return named.reduce((longest, id) => (id.length > longest.length ? id : longest));
  for (const [form, first] of places) {
    const at = form.exec(sentence)?.[1];
    if (at !== undefined) return tools[Number(at) - first]?.id;
  }
  return undefined;
}

/**
 * How providers count the tools that they were sent, and the number of the first. Google sends all in one list of
 * `tools[0]`.
 */
const places: readonly (readonly [RegExp, 0 | 1])[] = [
  [/function_?declarations\[(\d{1,5})\]/i, 0],
  [/\btools\.(\d{1,5})\.member\b/, 1],
  [/\btools[.[](\d{1,5})\b/, 0],
];

function holdsName(sentence: string, id: string): boolean {
  for (let at = sentence.indexOf(id); at !== -1; at = sentence.indexOf(id, at + 1)) {
    if (!/[\w-]/.test(sentence[at - 1] ?? ' ') && !/[\w-]/.test(sentence[at + id.length] ?? ' ')) return true;
  }
  return false;
}
