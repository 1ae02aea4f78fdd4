import { atToolPlaces, Fault, sizeOfPlaces, toToolPlaces } from '@sluice/core';
import type { ConfiguredTool, Decision, Evaluator } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type {
  FirstTools,
  HiddenPlaces,
  HiddenTool,
  OfferedTool,
  Run,
  ToolCall,
  OfferedList,
  Toolset,
} from '@sluice/contracts';
import { offeredForms, wireForm } from './toolset.js';

/** A list of more tools is not named in records: it has their places in the configuration. */
const mostNamedInRecord = 32;

/** Of a longer list of a run’s first iteration, so many stand in the run by name. */
const namedOfLonger = 16;

/** What the turn before was offered, and under which configuration. */
export interface OfferedBefore {
  readonly list: OfferedList | null;
  readonly configVersion: string;
}

/**
 * The filter’s decision as the log has it: which tools, and why not the others. What they are stands in the
 * configuration that the record names. A list that the turn before had as well is not written again.
 */
export function namingTools(
  record: Toolset,
  decision: Decision,
  evaluator: Evaluator,
  before: OfferedBefore | null,
): Toolset {
  const { hash, places, tools, hidden, hiddenPlaces } = listOf(decision, evaluator);
  const run = record.iteration === 1 ? withFirstTools(record.run, evaluator) : record.run;
  const former = before?.configVersion === record.configVersion ? before.list : null;
  if (former?.hash === hash)
    return { ...record, run, tools: [], hidden: [], hiddenPlaces: [], list: { hash, places, since: former.since } };
  return { ...record, run, tools, hidden, hiddenPlaces, list: { hash, places, since: record.iteration } };
}

interface WrittenList extends Pick<Toolset, 'tools' | 'hidden' | 'hiddenPlaces'> {
  readonly hash: string;
  readonly places: readonly number[];
}

/** Decisions share their lists (compileEvaluator), and so their records do. */
const written = new WeakMap<Decision['offered'], WeakMap<Decision['hidden'], WrittenList>>();

function listOf({ offered, hidden }: Decision, evaluator: Evaluator): WrittenList {
  let ofOffered = written.get(offered);
  if (ofOffered === undefined) written.set(offered, (ofOffered = new WeakMap()));
  let list = ofOffered.get(hidden);
  if (list === undefined) ofOffered.set(hidden, (list = Object.freeze(newList(offered, hidden, evaluator))));
  return list;
}

function newList(offered: Decision['offered'], hidden: Decision['hidden'], evaluator: Evaluator): WrittenList {
  const place = placesIn(evaluator);
  const named = offered.map(({ id, spec }) => [id, spec?.schemaHash ?? '']);
  const left = hidden.map(({ key, reasons }) => [key, reasons]);
  const isShort = hidden.length <= mostNamedInRecord;
  return {
    hash: sha256(JSON.stringify([named, left])),
    places: Object.freeze(toToolPlaces(offered.map(({ key }) => place(key)))),
    tools: Object.freeze(offered.length <= mostNamedInRecord ? offeredForms(offered).map(withoutTexts) : []),
    hidden: isShort ? hidden : Object.freeze([]),
    hiddenPlaces: Object.freeze(isShort ? [] : byReasons(hidden, place)),
  };
}

function withoutTexts(tool: OfferedTool): OfferedTool {
  return { ...tool, description: '', inputSchema: '' };
}

function byReasons(hidden: readonly HiddenTool[], place: (key: string) => number): readonly HiddenPlaces[] {
  const groups = Map.groupBy(hidden, ({ reasons }) => reasons.join());
  return [...groups.values()].map((tools) => ({
    reasons: tools[0]?.reasons ?? [],
    places: toToolPlaces(tools.map(({ key }) => place(key))),
  }));
}

/** Each record of a run carries what its first iteration was offered: long lists by their places. */
function withFirstTools(run: Run, evaluator: Evaluator): Run {
  const { availableTools, filteredByGroup, filteredByState } = run;
  const lists = [availableTools, filteredByGroup, filteredByState];
  if (lists.every(({ length }) => length <= mostNamedInRecord)) return run;
  const place = placesIn(evaluator);
  const placesOf = (keys: readonly string[]) => toToolPlaces(keys.map(place));
  return {
    ...run,
    availableTools: availableTools.slice(0, namedOfLonger),
    filteredByGroup: filteredByGroup.slice(0, namedOfLonger),
    filteredByState: filteredByState.slice(0, namedOfLonger),
    firstTools: {
      configVersion: evaluator.configuration.version,
      available: placesOf(availableTools),
      filteredByGroup: placesOf(filteredByGroup),
      filteredByState: placesOf(filteredByState),
    },
  };
}

/** The keys of a run’s first lists, whole; `evaluator` is of the configuration that `first` names. */
export function firstKeys(
  first: FirstTools,
  evaluator: Evaluator,
): Pick<Run, 'availableTools' | 'filteredByGroup' | 'filteredByState'> {
  const keysAt = (places: readonly number[]) => toolsAt(places, evaluator).map(({ key }) => key);
  return {
    availableTools: keysAt(first.available),
    filteredByGroup: keysAt(first.filteredByGroup),
    filteredByState: keysAt(first.filteredByState),
  };
}

const placesByKey = new WeakMap<Evaluator, ReadonlyMap<string, number>>();

function placesIn(evaluator: Evaluator): (key: string) => number {
  let places = placesByKey.get(evaluator);
  if (places === undefined) {
    places = new Map(evaluator.configuration.tools.map(({ key }, place) => [key, place]));
    placesByKey.set(evaluator, places);
  }
  const known = places;
  return (key) => known.get(key) as number;
}

/** Lists of offered tools that are kept for each configuration. */
const listsKept = 64;

const resolved = new WeakMap<Evaluator, Map<string, readonly OfferedTool[]>>();

/**
 * The Toolset with the offered tools and their texts, as a model is asked with them: from the configuration that the
 * record names, whose evaluator this is. One of an earlier version has them already. Throws Fault('schema_invalid')
 * where the configuration has no such tools.
 */
export function withTools(record: Toolset, evaluator: Evaluator): Toolset {
  const { list } = record;
  return list === null ? record : { ...record, tools: toolsOf(list, evaluator) };
}

/** Ids of the tools that the turn was offered. */
export function offeredIds(
  { list, offered }: Pick<ToolCall, 'list' | 'offered'>,
  evaluator: Evaluator,
): readonly string[] {
  return list === null ? offered : toolsAt(list.places, evaluator).map(({ id }) => id);
}

/** How many tools were offered. */
export function offeredCount({ list, tools }: Pick<Toolset, 'list' | 'tools'>): number {
  return list === null ? tools.length : sizeOfPlaces(list.places);
}

function toolsOf({ places }: OfferedList, evaluator: Evaluator): readonly OfferedTool[] {
  let lists = resolved.get(evaluator);
  if (lists === undefined) resolved.set(evaluator, (lists = new Map()));
  const name = places.join();
  let tools = lists.get(name);
  if (tools === undefined) {
    tools = Object.freeze(toolsAt(places, evaluator).map(wireForm));
    const oldest = lists.keys().next().value;
    if (lists.size >= listsKept && oldest !== undefined) lists.delete(oldest);
    lists.set(name, tools);
  }
  return tools;
}

function toolsAt(places: readonly number[], { configuration }: Evaluator): readonly ConfiguredTool[] {
  try {
    return atToolPlaces(places, configuration.tools);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Fault(
      'schema_invalid',
      `The record lists tools that the configuration ${configuration.version} does not have. ${error.message}`,
      false,
      { cause: error },
    );
  }
}
