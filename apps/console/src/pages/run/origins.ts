import type { CallItem, RunTimeline } from './timeline/model.js';

/** Where a value of a call’s arguments stood before. */
export interface Origin {
  /** The path of the argument, such as `to[0].name`. */
  readonly path: string;
  readonly value: string;
  readonly from:
    | { readonly kind: 'question' }
    | { readonly kind: 'result'; readonly callId: string; readonly tool: string; readonly path: string };
}

/** So many values of results are compared, and so many of arguments. */
const mostValues = 50_000;
const mostArguments = 200;
const deepest = 12;
/** Lists and objects of at most so many characters are compared as a whole. */
const mostCharacters = 100_000;

/** Values that are equal by chance say nothing: short ones, small numbers, true, false, null, and what is empty. */
function tokenOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().length >= 3 ? value.trim() : null;
  if (typeof value === 'number') return Math.abs(value) >= 100 || !Number.isInteger(value) ? String(value) : null;
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return null;
  const text = JSON.stringify(value);
  return text.length >= 20 && text.length <= mostCharacters ? text : null;
}

/**
 * For each value in the call’s arguments that equals one in an earlier result, or stands in the question, where that
 * is. The latest such result counts. Of a list or an object that is equal as a whole, its parts are not named.
 */
export function originsOf(call: CallItem, timeline: RunTimeline, question: string | null): readonly Origin[] {
  const wanted = new Map<string, string[]>();
  walk(parsed(call.arguments), '', (path, value) => {
    const token = tokenOf(value);
    if (token !== null) wanted.set(token, [...(wanted.get(token) ?? []), path]);
    return wanted.size < mostArguments;
  });
  if (wanted.size === 0) return [];
  const found = new Map<string, Origin['from']>();
  let left = mostValues;
  for (const before of earlier(call, timeline)) {
    if (left <= 0 || found.size === wanted.size) break;
    walk(before.result?.result, '', (path, value) => {
      const token = tokenOf(value);
      if (token !== null && wanted.has(token) && !found.has(token))
        found.set(token, { kind: 'result', callId: before.id, tool: before.tool, path });
      return --left > 0;
    });
  }
  const origins = [...wanted].flatMap(([value, paths]) => {
    const from = found.get(value) ?? (question?.includes(value) === true ? { kind: 'question' as const } : null);
    return from === null ? [] : paths.map((path) => ({ path, value, from }));
  });
  const whole = origins.filter(({ value }) => /^[[{]/.test(value)).map(({ path }) => path);
  return origins.filter(({ path }) => !whole.some((outer) => outer !== path && isWithin(path, outer)));
}

const isWithin = (path: string, outer: string): boolean =>
  outer === '' || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);

/** Calls with a result from before this one, the latest first. */
function earlier(call: CallItem, timeline: RunTimeline): readonly CallItem[] {
  const before: CallItem[] = [];
  for (const iteration of [...timeline.iterations.values()].sort((one, other) => one.number - other.number)) {
    if (iteration.number > call.iteration) break;
    for (const each of iteration.calls) {
      if (each === call) return before.reverse();
      if (each.result !== null) before.push(each);
    }
  }
  return before.reverse();
}

/** Visits a value and all that it holds, until `visit` says that it is enough. A text that is JSON is read as that. */
function walk(value: unknown, path: string, visit: (path: string, value: unknown) => boolean, depth = 0): boolean {
  if (typeof value === 'string' && /^\s*[[{]/.test(value) && depth === 0) {
    const inner = parsed(value);
    if (inner !== undefined) return walk(inner, path, visit, 1);
  }
  if (value === undefined) return true;
  // The arguments as a whole say nothing.
  if ((path !== '' || typeof value !== 'object') && !visit(path, value)) return false;
  if (typeof value !== 'object' || value === null || depth > deepest) return true;
  for (const [name, each] of Object.entries(value)) {
    const inner = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    if (!walk(each, inner, visit, depth + 1)) return false;
  }
  return true;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
