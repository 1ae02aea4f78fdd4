import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonObject } from '@sluice/core';
import { parseArguments } from '../calls.js';
import { areApart, kindsAt } from './kinds.js';
import type { Kind } from './kinds.js';
import { namedStepWithin } from './named-steps.js';
import type { PlannedStep } from './plan.js';
import { pointerOf, referenceForm, referencesIn } from './references.js';
import type { Reference } from './references.js';

type Tools = Pick<Evaluator, 'tool'> | undefined;

/**
 * Why a step cannot be made with the arguments that were planned for it, as a clause; null if it can as far as that
 * is known before anything runs: what they name of other steps has to be there, of a kind that the tool takes in its
 * place, and in the one form that is filled in.
 */
export function argumentsProblem(
  steps: readonly PlannedStep[],
  index: number,
  tool: ConfiguredTool,
  tools: Tools,
): string | null {
  const written = steps[index]?.arguments ?? null;
  if (written === null) return null;
  const args = parseArguments(written);
  if (!isJsonObject(args)) return 'its arguments are no JSON object. Write one, or leave them out.';
  const { references, malformed } = referencesIn(args);
  const [wrong] = malformed;
  if (wrong !== undefined)
    return `its arguments have at ${pointerOf(wrong)} what is no reference: write ${referenceForm}.`;
  for (const reference of references) {
    const problem = referenceProblem(reference, steps, tool.spec?.inputSchema ?? null, tools);
    if (problem !== null) return problem;
  }
  const named = namedStepWithin(args, { steps: steps.length, tools: steps.flatMap((step) => namesOf(step, tools)) });
  return named === null
    ? null
    : `its arguments hold \`${named}\`, which would go to the tool as it stands. Where a value is a result write ${referenceForm}; where a text is written from results, or these words are meant, leave the arguments out: they are asked for when its turn comes.`;
}

function namesOf({ tool: written }: PlannedStep, tools: Tools): readonly string[] {
  const tool = tools?.tool(written);
  return tool === undefined ? [written] : [...new Set([written, tool.key, tool.id])];
}

/** That it is none of a step before it, `after` has said by now. */
function referenceProblem(
  { step, path, at }: Reference,
  steps: readonly PlannedStep[],
  schema: JsonObject | null,
  tools: Tools,
): string | null {
  const named = steps[step - 1]?.tool ?? '';
  const given = givenAt(tools?.tool(named), path);
  const result = `the result of step ${step} (${named})`;
  if (typeof given === 'string') return `${result} has nothing at ${pointerOf(path)}: ${given}`;
  const taken = kindsAt(schema, at);
  if (taken?.length === 0) return `its tool takes nothing at ${pointerOf(at)}, where its arguments name ${result}.`;
  if (!areApart(given, taken)) return null;
  const what = path.length === 0 ? result : `what ${result} has at ${pointerOf(path)}`;
  return `${what} is ${inWords(given)}, and ${pointerOf(at)} takes ${inWords(taken)}.`;
}

/**
 * The kinds of value that a result has at a place, null where that is not known, or a sentence that says that nothing
 * is there.
 */
function givenAt(tool: ConfiguredTool | undefined, path: readonly string[]): readonly Kind[] | null | string {
  const { spec, mcp } = tool ?? {};
  if (spec === undefined || spec === null) return null;
  const [first] = path;
  // Only these fields of a result leave its tool.
  if ('fields' in spec.redaction) {
    const { fields } = spec.redaction;
    if (first === undefined) return ['object'];
    if (!fields.includes(first)) return `it has ${fields.map((field) => `/${field}`).join(', ')}.`;
  }
  const kinds = kindsAt(mcp?.outputSchema ?? null, path);
  return kinds?.length === 0 ? 'its tool’s server says what its results have, and not that.' : kinds;
}

function inWords(kinds: readonly Kind[] | null): string {
  return (kinds ?? []).join(' or ');
}
