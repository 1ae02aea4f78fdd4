import { canonicalJson, normaliseState } from '@sluice/core';
import type { ConfiguredTool, Evaluator } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentRequest, Run } from '@sluice/contracts';
import { ruleFactsOf } from './conditions.js';

/** Joined tools of a configuration, and joined lists of an offer, that are kept for the next decision. */
const toolsKept = 1_024;
const listsKept = 64;

const tools = new WeakMap<Evaluator, Map<string, ConfiguredTool>>();
const lists = new WeakMap<readonly ConfiguredTool[], Map<string, readonly ConfiguredTool[]>>();

/** Whose offer it is: what a record of the loop has. */
export interface OfferedTo {
  readonly request: Pick<AgentRequest, 'question' | 'call' | 'state'>;
  readonly run: Run;
}

/**
 * The tools as this run is offered them: with the bounds of their arguments in their schemas, as far as schemas can
 * say them, and with hashes of their own. The configuration and what the record has of the caller make them, so that
 * they can be made again. Equal offers share their lists.
 */
export function joinedTools(
  offered: readonly ConfiguredTool[],
  about: OfferedTo,
  evaluator: Evaluator,
): readonly ConfiguredTool[] {
  const { argumentRules } = evaluator;
  if (!argumentRules.hasBounds) return offered;
  // What is offered does not depend on the time by its bounds.
  const facts = ruleFactsOf(about, evaluator, 0);
  const state = normaliseState(about.request.state);
  return found(keptIn(lists, offered), argumentRules.joinScope(facts, state), listsKept, () => {
    const made = keptIn(tools, evaluator);
    const keys = offered.map(({ id }) => argumentRules.joinKey(id, facts, state));
    if (keys.every((key) => key === null)) return offered;
    return Object.freeze(
      offered.map((tool, place) => {
        const key = keys[place];
        if (key === null || key === undefined || tool.spec === null) return tool;
        const { spec } = tool;
        return found(made, `${tool.id}\n${key}`, toolsKept, () => {
          const inputSchema = argumentRules.joinedSchema(tool.id, spec.inputSchema, facts, state);
          return { ...tool, spec: { ...spec, inputSchema, schemaHash: sha256(canonicalJson(inputSchema)) } };
        });
      }),
    );
  });
}

function keptIn<Of extends WeakKey, T>(all: WeakMap<Of, Map<string, T>>, of: Of): Map<string, T> {
  let known = all.get(of);
  if (known === undefined) all.set(of, (known = new Map()));
  return known;
}

function found<T>(known: Map<string, T>, name: string, most: number, make: () => T): T {
  let value = known.get(name);
  if (value === undefined) {
    if (known.size >= most) known.clear();
    known.set(name, (value = make()));
  }
  return value;
}
