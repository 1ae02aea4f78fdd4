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
const mostValues = 100_000;
const mostArguments = 200;
const deepest = 12;

/** Values that are equal by chance say nothing: short ones, small numbers, true, false and null. */
function tokenOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().length >= 3 ? value.trim() : null;
  if (typeof value === 'number') return Math.abs(value) >= 100 || !Number.isInteger(value) ? String(value) : null;
  return null;
}

/**
 * For each value in the call’s arguments that equals one in an earlier result, or stands in the question, where that
 * is. The latest such result counts.
 */
export function originsOf(call: CallItem, timeline: RunTimeline, question: string | null): readonly Origin[] {
  const wanted = new Map<string, string[]>();
  walk(parsed(call.arguments), '', (path, value) => {
    const token = tokenOf(value);
    if (token === null || wanted.size >= mostArguments) return wanted.size < mostArguments;
    wanted.set(token, [...(wanted.get(token) ?? []), path]);
    return true;
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
  return [...wanted].flatMap(([value, paths]) => {
    const from = found.get(value) ?? (question?.includes(value) === true ? { kind: 'question' as const } : null);
    return from === null ? [] : paths.map((path) => ({ path, value, from }));
  });
}

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

/** Visits each value that holds no others, until `visit` says that it is enough. */
function walk(value: unknown, path: string, visit: (path: string, value: unknown) => boolean, depth = 0): boolean {
  if (typeof value === 'string' && /^\s*[[{]/.test(value) && depth === 0) {
    const inner = parsed(value);
    if (inner !== undefined) return walk(inner, path, visit, 1);
  }
  if (typeof value !== 'object' || value === null) return value === undefined || visit(path, value);
  if (depth > deepest) return true;
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
