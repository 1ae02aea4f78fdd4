import { isJsonObject, quote } from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/** What may stand in a place of a report: whether it does, or what is wrong with it in sentences. */
type Form = (value: JsonValue | undefined, at: string) => readonly string[];

const kindOf = (what: string, is: (value: JsonValue | undefined) => boolean): Form => {
  return (value, at) => (is(value) ? [] : [`${at} is ${shown(value)}; it must be ${what}.`]);
};
const text = kindOf('a text', (value) => typeof value === 'string');
const textOrNull = kindOf('a text or null', (value) => value === null || typeof value === 'string');
const whole = kindOf('a whole number', Number.isSafeInteger);
const wholeOrNull = kindOf('a whole number or null', (value) => value === null || Number.isSafeInteger(value));
const anObject = kindOf('an object', isJsonObject);
const just = (wanted: JsonValue): Form => kindOf(JSON.stringify(wanted), (value) => value === wanted);
const orNull = (form: Form): Form => {
  return (value, at) => (value === null ? [] : form(value, at));
};
const list = (form: Form): Form => {
  return (value, at) =>
    Array.isArray(value)
      ? value.flatMap((one: JsonValue, n) => form(one, `${at}[${n}]`))
      : [`${at} is ${shown(value)}; it must be a list.`];
};

/** An object with exactly these members; those of `some` may be missing. No one signed what else stands there. */
function members(all: Readonly<Record<string, Form>>, some: Readonly<Record<string, Form>> = {}): Form {
  const known = { ...all, ...some };
  return (value, at) => {
    if (!isJsonObject(value)) return [`${at} is ${shown(value)}; it must be an object.`];
    const added = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
    return [
      ...added.map((name) => `${at} has the member ${quote(name)}, which is none of a report: it was added.`),
      ...Object.keys(all).flatMap((name) =>
        Object.hasOwn(value, name) ? [] : [`${at} lacks the member ${quote(name)}.`],
      ),
      ...Object.entries(known).flatMap(([name, form]) =>
        Object.hasOwn(value, name) ? form(value[name], at === report ? name : `${at}.${name}`) : [],
      ),
    ];
  };
}

const report = 'The report';
const entry = members(
  { sequence: whole, at: whole, kind: text, hash: text, session: text, proof: list(text) },
  { call: anObject, call_hash: text },
);
const chain = members({
  ...{ chain: text, tree: members({ size: whole, root: text }), checkpoint: text },
  ...{ last: entry, entries: list(entry) },
});
const reportForm = members({
  ...{ type: just('sluice-attestation'), version: just(1), from: wholeOrNull, to: wholeOrNull, session: textOrNull },
  ...{ signer: just('software'), chains: list(chain), signature: text },
  quote: orNull(members({ kind: text, evidence: text })),
});

/** Each thing in which the value is not formed as a report, in a sentence; none if it is one. */
export function formProblems(value: JsonValue): readonly string[] {
  return reportForm(value, report);
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value)
    ? 'a list'
    : isJsonObject(value)
      ? 'an object'
      : `the ${typeof value} ${quote(String(value))}`;
}
