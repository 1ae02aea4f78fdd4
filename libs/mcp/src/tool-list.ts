import { beginning, channelHeader, decideIteration, originOf, ruleFactsOf, withConditions } from '@sluice/run';
import type { Measured } from '@sluice/run';
import { asksFor, mayRun, noCalls, normaliseState } from '@sluice/core';
import type { AuthorizationPort, ConfiguredTool, Evaluator, JsonObject, Principal } from '@sluice/core';
import { servedNames, servedTool } from './served-tool.js';
import type { ServedTool } from './served-tool.js';
import { callerRequest, callQuestion } from './call-request.js';

/** Tools on one page. Clients that read the first page alone are common, so that a page is long. */
const pageTools = 1_000;

/** The served names of a configuration, made once for it. */
const named = new WeakMap<readonly ConfiguredTool[], NamesOf>();
/** Lists of a decision are shared, and so their served forms are. */
const forms = new WeakMap<readonly object[], readonly ServedTool[]>();

/** What is decided about: who asks, in which state, when, and what was measured. */
export interface Asking {
  readonly caller: Principal;
  /** Claims of the caller’s credential; undefined where there is none. */
  readonly claims: JsonObject | undefined;
  readonly state: string | null;
  readonly measured: Measured;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface NamesOf {
  readonly byName: ReadonlyMap<string, ConfiguredTool>;
  readonly byId: ReadonlyMap<string, string>;
}

/** The tools of a configuration by the names that clients use, and these names by the tools’ ids. */
export function namesIn({ configuration: { tools } }: Pick<Evaluator, 'configuration'>): NamesOf {
  let names = named.get(tools);
  if (names === undefined) {
    const byName = servedNames(tools);
    const byId = new Map([...byName].map(([name, { id }]) => [id, name]));
    named.set(tools, (names = { byName, byId }));
  }
  return names;
}

/**
 * Exactly the tools that a call by this caller in this state would be admitted for, in the order of the
 * configuration: the filter’s own decision, without those that the authorizer does not permit the caller. One out of
 * reach permits nothing.
 */
export async function listedTools(
  asking: Asking,
  evaluator: Evaluator,
  authorizer: AuthorizationPort,
): Promise<readonly ServedTool[]> {
  const offered = offeredTo(asking, evaluator, null);
  const served = servedForms(offered, evaluator);
  if (evaluator.configuration.authorization === null) return served;
  const permitted = await Promise.all(offered.map((tool) => mayRun(tool, asking.caller, authorizer, 'list')));
  return served.filter((_, place) => permitted[place]);
}

function servedForms(offered: readonly ConfiguredTool[], evaluator: Evaluator): readonly ServedTool[] {
  let served = forms.get(offered);
  if (served === undefined) {
    const { byId } = namesIn(evaluator);
    served = Object.freeze(offered.map((tool) => servedTool(tool, byId.get(tool.id) ?? tool.id)));
    forms.set(offered, served);
  }
  return served;
}

/**
 * What the filter would offer the run of each call by this caller, of the tools with these ids; of all where they are
 * null. A call is a run of its own, so that rules on history find it at its beginning.
 */
export function offeredTo(
  asking: Asking,
  evaluator: Evaluator,
  toolIds: readonly string[] | null,
): readonly ConfiguredTool[] {
  if (!asksFor(evaluator, ['question']))
    return decided(begun(asking, evaluator, toolIds, 'Which tools?'), asking, evaluator);
  // Each call has a question of its own, which matters by what rules make of it alone.
  const byClosed = new Map<number, ReadonlyMap<string, ConfiguredTool>>();
  return evaluator.configuration.tools.flatMap((tool) => {
    const about = begun(asking, evaluator, toolIds, callQuestion(tool));
    const facts = ruleFactsOf(about, evaluator, asking.now);
    const closed = evaluator.availability.closed(facts, noCalls, normaliseState(asking.state));
    const offered =
      byClosed.get(closed) ?? new Map(decided(about, asking, evaluator).map((one) => [one.id, one] as const));
    byClosed.set(closed, offered);
    return offered.get(tool.id) ?? [];
  });
}

/** Every run that is listed for makes a call that its request names, and asks no agent: bounds may go by that. */
const anyCall = { tool: '', arguments: '', order: null };

/** A run at its beginning, with what its first decision goes by. */
function begun(
  { caller, claims, state, measured, now }: Asking,
  evaluator: Evaluator,
  toolIds: readonly string[] | null,
  question: string,
) {
  const ids = { requestId: 'list', sessionId: 'list' };
  const request = { ...callerRequest(caller, state, question, ids), toolIds, call: anyCall };
  const { run, permission } = beginning(request, caller, evaluator, now);
  const origin = originOf({ [channelHeader]: 'mcp' }, claims, evaluator);
  return { request, run: withConditions(run, evaluator, measured, origin), isAllowed: permission.ok };
}

function decided(
  { request, run, isAllowed }: ReturnType<typeof begun>,
  { now }: Asking,
  evaluator: Evaluator,
): readonly ConfiguredTool[] {
  if (!isAllowed) return [];
  const iteration = decideIteration(request, request, run, evaluator, now);
  return iteration.kind === 'end' ? [] : iteration.decision.offered;
}

/** One page of a list; null for a cursor that is not of this list. `mark` says which list it is. */
export function pageOf<T>(
  list: readonly T[],
  mark: string,
  cursor: string | undefined,
  size: number = pageTools,
): { readonly page: readonly T[]; readonly nextCursor?: string } | null {
  const from = cursor === undefined ? 0 : placeIn(cursor, mark);
  if (from === null || from > list.length) return null;
  const page = list.slice(from, from + size);
  const next = from + size;
  return next < list.length ? { page, nextCursor: cursorAt(next, mark) } : { page };
}

function cursorAt(place: number, mark: string): string {
  return Buffer.from(JSON.stringify([mark, place])).toString('base64url');
}

function placeIn(cursor: string, mark: string): number | null {
  try {
    const [of, place] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    return of === mark && typeof place === 'number' && Number.isInteger(place) && place >= 0 ? place : null;
  } catch {
    return null;
  }
}
