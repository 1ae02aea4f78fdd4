import { deepestJson, isDeeperThan, isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/**
 * What a text is held against: how many steps its plan has, and which tools these call, under every name that they
 * have.
 */
interface StepNames {
  readonly steps: number;
  readonly tools: readonly string[];
}

/** How a model may mark what is to be filled in, and which words name a step between such marks. */
interface Marks {
  readonly form: RegExp;
  readonly names: Naming;
  /** Whether a tool’s name between them is that of its step. */
  readonly tools: boolean;
}

/** Ways to name a step: `step_1`, `results[0].x`, `first step`, `last result`, and `address from step 1`. */
interface Naming {
  readonly numbered: RegExp;
  readonly ordered: RegExp;
  readonly relative: RegExp;
  readonly ending: RegExp;
}

const cardinals = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

const words = '(?:steps?|tasks?|calls?|results?|outputs?|observations?|responses?|answers?)';
const count = String.raw`(\d{1,3}|${cardinals.join('|')})(?![\da-z])`;
const ordinal = `(${ordinals.join('|')})`;
const before = '(?:previous|prev|prior|preceding|last|earlier)';
const gap = String.raw`[\s_\-.]*`;
const index = String.raw`[\s_\-.#\["'(]*`;

function naming(word: string): Naming {
  const step = `(?:steps?${index}${count}|${ordinal}${gap}step|${before}${gap}step)`;
  return {
    numbered: new RegExp(String.raw`^(?:${words}${gap}(?:of|from)${gap}(?:the${gap})?)?${word}${index}${count}`, 'i'),
    ordered: new RegExp(`^${ordinal}${gap}${word}(?![a-z])`, 'i'),
    relative: new RegExp(`^${before}${gap}${word}(?![a-z])`, 'i'),
    ending: new RegExp(String.raw`[\s_(](?:from|of|in|by)${gap}(?:the${gap})?${step}[\])"'\s]*$`, 'i'),
  };
}

const anyWord = naming(words);
const onlyStep = naming('steps?');

/** What stands between marks is short and has no marks in it, but for the index of a list. */
const between = String.raw`((?:[^{}<>\[\]\n]|\[[^\[\]\n]{0,20}\]){1,100}?)`;

const marks: readonly Marks[] = [
  { form: new RegExp(String.raw`\{${between}\}`, 'g'), names: anyWord, tools: true },
  { form: /\$\(([^()\n]{1,100})\)/g, names: anyWord, tools: true },
  { form: new RegExp(`<${between}>`, 'g'), names: anyWord, tools: false },
  // Brackets and sigils are of Markdown, code and tags as well.
  { form: new RegExp(String.raw`\[${between}\]`, 'g'), names: onlyStep, tools: false },
  { form: /%([A-Za-z][\w.\-[\]]{0,99})%/g, names: onlyStep, tools: false },
  { form: /__([A-Za-z][A-Za-z\d.-]{0,40}(?:_[A-Za-z\d.-]{1,40}){0,4})__/g, names: onlyStep, tools: false },
  { form: /(?<![\w$#@&])[$#@]([A-Za-z][\w.\-[\]]{0,99})/g, names: onlyStep, tools: false },
];

/** The variables of a planner that is widely known (ReWOO): `#E1`. */
const variable = /^E(\d{1,2})(?![\w])/;

/**
 * Values that are nothing but a name: `step_1`, `steps[0].out`, `output of step 2`, `{{1}}`. A title such as `Step 1`
 * is a text.
 */
const whole = new RegExp(
  String.raw`^(?:(?:the\s+)?${words}[\s_](?:of|from)[\s_]step${index}${count}|steps?[_.\-\[]?${count}\]?(?:[._\[][\w.\[\]\-]*)?|\$?\{{1,2}\s*${count}\s*\}{1,2})$`,
  'i',
);

/**
 * The first words in a text by which a model means another step of its plan, in a form of its own: the tool would get
 * these words. Null for a text: prices, templates with names of their own, brackets of Markdown and of code.
 */
export function namedStepIn(text: string, names: StepNames): string | null {
  const trimmed = text.trim();
  if (isStep(whole.exec(trimmed), names)) return trimmed;
  for (const { form, names: by, tools } of marks)
    for (const [placeholder, name = ''] of text.matchAll(form))
      if (namesStep(name.replace(/^[\s[("']*(?:the\s+)?/i, ''), by, names, tools)) return placeholder;
  return null;
}

function namesStep(name: string, by: Naming, names: StepNames, tools: boolean): boolean {
  if (by.relative.test(name)) return true;
  if ([variable, by.numbered, by.ordered].some((form) => isStep(form.exec(name), names))) return true;
  const ending = by.ending.exec(name);
  if (ending !== null && (ending.slice(1).every((one) => one === undefined) || isStep(ending, names))) return true;
  return tools && names.tools.some((tool) => namesTool(name, tool));
}

/** Counted from one or from zero: both are written. */
function isStep(found: RegExpExecArray | null, { steps }: StepNames): boolean {
  const written = found
    ?.slice(1)
    .find((one) => one !== undefined)
    ?.toLowerCase();
  if (written === undefined) return false;
  const spelled = Math.max(cardinals.indexOf(written), ordinals.indexOf(written));
  return (spelled < 0 ? Number(written) : spelled + 1) <= steps;
}

const stepsOf = new RegExp(`^${words}[.]`, 'i');
const partOf = new RegExp(String.raw`^(?:$|[.[]|[\s_\-]+${words}(?![a-z]))`, 'i');

/** `find.email`, `find_result`, `steps.find`, and `find` itself. */
function namesTool(name: string, tool: string): boolean {
  const bare = name.replace(stepsOf, '');
  return bare.startsWith(tool) && partOf.test(bare.slice(tool.length));
}

/** The first such words in the texts of a step’s arguments, names of members too. */
export function namedStepWithin(args: JsonValue, names: StepNames): string | null {
  return isDeeperThan(args, deepestJson) ? null : look(args, names);
}

function look(value: JsonValue, names: StepNames): string | null {
  if (typeof value === 'string') return namedStepIn(value, names);
  const inside: readonly JsonValue[] = Array.isArray(value)
    ? (value as readonly JsonValue[])
    : isJsonObject(value)
      ? Object.entries(value).flat()
      : [];
  for (const one of inside) {
    const found = look(one, names);
    if (found !== null) return found;
  }
  return null;
}
