import { atToolIndexes, evaluatorFor, Fault, toToolIndexes } from '@sluice/core';
import type { ConfiguredTool, Decision, Evaluator } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type {
  FirstTools,
  HiddenIndexes,
  HiddenTool,
  OfferedTool,
  Run,
  ToolCall,
  OfferedList,
  Toolset,
} from '@sluice/contracts';
import { joinedTools } from './joined-tools.js';
import type { Configurations } from './configuration/configurations.js';
import type { OfferedTo } from './joined-tools.js';
import { offeredForms } from './toolset.js';

/** A list of more tools is not named in records: it has their indexes in the configuration. */
const mostNamedInRecord = 32;

/** Of a run’s first lists: with more tools than `most` in one of them, so many of each stand in the run by name. */
interface NamesInRun {
  readonly most: number;
  readonly ofLonger: number;
}

const namesInRun: NamesInRun = { most: mostNamedInRecord, ofLonger: 16 };

/** No model sees the tools of such a run: it names them by their indexes. */
const namesInCall: NamesInRun = { most: 2, ofLonger: 0 };

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
  names = namesInRun,
): Toolset {
  const { hash, indexes, tools, hidden, hiddenIndexes } = listOf(decision, evaluator);
  const run = record.iteration === 1 ? withFirstTools(record.run, evaluator, names) : record.run;
  const former = before?.configVersion === record.configVersion ? before.list : null;
  if (former?.hash === hash)
    return { ...record, run, tools: [], hidden: [], hiddenIndexes: [], list: { hash, indexes, since: former.since } };
  return { ...record, run, tools, hidden, hiddenIndexes, list: { hash, indexes, since: record.iteration } };
}

/** The same for the decision about a call that its request makes itself. */
export function namingFewTools(record: Toolset, decision: Decision, evaluator: Evaluator): Toolset {
  return namingTools(record, decision, evaluator, null, namesInCall);
}

interface WrittenList extends Pick<Toolset, 'tools' | 'hidden' | 'hiddenIndexes'> {
  readonly hash: string;
  readonly indexes: readonly number[];
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
  const index = indexesIn(evaluator);
  const named = offered.map(({ id, spec }) => [id, spec?.schemaHash ?? '']);
  const left = hidden.map(({ key, reasons }) => [key, reasons]);
  const isShort = hidden.length <= mostNamedInRecord;
  return {
    hash: sha256(JSON.stringify([named, left])),
    indexes: Object.freeze(toToolIndexes(offered.map(({ key }) => index(key)))),
    tools: Object.freeze(offered.length <= mostNamedInRecord ? offeredForms(offered).map(withoutTexts) : []),
    hidden: isShort ? hidden : Object.freeze([]),
    hiddenIndexes: Object.freeze(isShort ? [] : byReasons(hidden, index)),
  };
}

function withoutTexts(tool: OfferedTool): OfferedTool {
  return { ...tool, description: '', inputSchema: '' };
}

function byReasons(hidden: readonly HiddenTool[], index: (key: string) => number): readonly HiddenIndexes[] {
  const groups = Map.groupBy(hidden, ({ reasons }) => reasons.join());
  return [...groups.values()].map((tools) => ({
    reasons: tools[0]?.reasons ?? [],
    indexes: toToolIndexes(tools.map(({ key }) => index(key))),
  }));
}

/** Each record of a run carries what its first iteration was offered: long lists by their indexes. */
function withFirstTools(run: Run, evaluator: Evaluator, { most, ofLonger }: NamesInRun): Run {
  const { availableTools, filteredByGroup, filteredByState } = run;
  const lists = [availableTools, filteredByGroup, filteredByState];
  if (lists.every(({ length }) => length <= most)) return run;
  const index = indexesIn(evaluator);
  const indexesOf = (keys: readonly string[]) => toToolIndexes(keys.map(index));
  return {
    ...run,
    availableTools: availableTools.slice(0, ofLonger),
    filteredByGroup: filteredByGroup.slice(0, ofLonger),
    filteredByState: filteredByState.slice(0, ofLonger),
    firstTools: {
      configVersion: evaluator.configuration.version,
      available: indexesOf(availableTools),
      filteredByGroup: indexesOf(filteredByGroup),
      filteredByState: indexesOf(filteredByState),
    },
  };
}

/** The keys of a run’s first lists, whole; `evaluator` is of the configuration that `first` names. */
export function firstKeys(
  first: FirstTools,
  evaluator: Evaluator,
): Pick<Run, 'availableTools' | 'filteredByGroup' | 'filteredByState'> {
  return {
    availableTools: keysAt(first.available, evaluator),
    filteredByGroup: keysAt(first.filteredByGroup, evaluator),
    filteredByState: keysAt(first.filteredByState, evaluator),
  };
}

/**
 * The run with the first names of its first lists, as other runs have them: one without a model names no more than
 * two. As it is where its configuration cannot be read here.
 */
export function withFirstNames(run: Run, configurations: Pick<Configurations, 'versionOrNull'>): Run {
  const { firstTools } = run;
  if (firstTools === null || run.availableTools.length + run.filteredByGroup.length + run.filteredByState.length > 0)
    return run;
  const evaluator = configurations.versionOrNull(firstTools.configVersion)?.evaluator;
  if (evaluator === undefined) return run;
  const namesOf = (indexes: readonly number[]): readonly string[] =>
    toolsAt(indexes, evaluator)
      .slice(0, namesInRun.ofLonger)
      .map(({ key }) => key);
  try {
    return {
      ...run,
      availableTools: namesOf(firstTools.available),
      filteredByGroup: namesOf(firstTools.filteredByGroup),
      filteredByState: namesOf(firstTools.filteredByState),
    };
  } catch {
    // The record of a dead letter may say anything.
    return run;
  }
}

/** The keys of the tools at these indexes of the configuration. */
export function keysAt(indexes: readonly number[], evaluator: Pick<Evaluator, 'configuration'>): readonly string[] {
  return toolsAt(indexes, evaluator).map(({ key }) => key);
}

const indexesByKey = new WeakMap<Evaluator, ReadonlyMap<string, number>>();

function indexesIn(evaluator: Evaluator): (key: string) => number {
  let indexes = indexesByKey.get(evaluator);
  if (indexes === undefined) {
    indexes = new Map(evaluator.configuration.tools.map(({ key }, index) => [key, index]));
    indexesByKey.set(evaluator, indexes);
  }
  const known = indexes;
  return (key) => known.get(key) as number;
}

/** Lists of offered tools that are kept for each configuration. */
const listsKept = 64;

const resolved = new WeakMap<Evaluator, Map<string, readonly ConfiguredTool[]>>();

/**
 * The Toolset with the offered tools and their texts, as a model is asked with them: from the configuration that the
 * record names, whose evaluator this is. One of an earlier version has them already. Throws Fault('schema_invalid')
 * where the configuration has no such tools.
 */
export function withTools(record: Toolset, evaluator: Evaluator): Toolset {
  const { list } = record;
  return list === null ? record : { ...record, tools: toolsOf(list, record, evaluatorFor(evaluator, record.request)) };
}

/** Ids of the tools that the turn was offered. */
export function offeredIds(
  { list, offered }: Pick<ToolCall, 'list' | 'offered'>,
  evaluator: Pick<Evaluator, 'configuration'>,
): readonly string[] {
  return list === null ? offered : toolsAt(list.indexes, evaluator).map(({ id }) => id);
}

/**
 * Of the tools that the record offered its turn, with the bounds of their arguments in their schemas, those whose
 * schema has this hash. The evaluator is of the configuration that the record names.
 */
export function offeredWithSchema(record: Toolset, hash: string, evaluator: Evaluator): readonly ConfiguredTool[] {
  const { list, tools } = record;
  const own = evaluatorFor(evaluator, record.request);
  const offered = list === null ? tools.flatMap(({ id }) => own.byId(id) ?? []) : listedAt(list, own);
  return joinedTools(offered, record, own).filter(({ spec }) => spec?.schemaHash === hash);
}

function toolsOf(list: OfferedList, about: OfferedTo, evaluator: Evaluator): readonly OfferedTool[] {
  return offeredForms(joinedTools(listedAt(list, evaluator), about, evaluator));
}

/** The tools of a list; records with the same list share it. */
function listedAt({ indexes }: OfferedList, evaluator: Evaluator): readonly ConfiguredTool[] {
  let lists = resolved.get(evaluator);
  if (lists === undefined) resolved.set(evaluator, (lists = new Map()));
  const name = indexes.join();
  let tools = lists.get(name);
  if (tools === undefined) {
    tools = Object.freeze(toolsAt(indexes, evaluator));
    const oldest = lists.keys().next().value;
    if (lists.size >= listsKept && oldest !== undefined) lists.delete(oldest);
    lists.set(name, tools);
  }
  return tools;
}

function toolsAt(
  indexes: readonly number[],
  { configuration }: Pick<Evaluator, 'configuration'>,
): readonly ConfiguredTool[] {
  try {
    return atToolIndexes(indexes, configuration.tools);
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
