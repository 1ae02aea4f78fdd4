import type { z } from 'zod';
import { firstSentence, plainJson, ToolUnavailableError } from '@sluice/core';
import type {
  JsonValue,
  ReconcileAnswer,
  ToolCapabilities,
  ToolInvocationContext,
  ToolNetwork,
  ToolType,
} from '@sluice/core';
import { capabilityNames } from './capabilities.js';
import type { Capabilities, CapabilityName } from './capabilities.js';
import { parseInput } from './binding/input.js';
import type { ToolDefinition } from './definition.js';
import { definitionProblems } from './definition-problems.js';
import { inputSchemaOf } from './input-schema.js';

/** Bytes of JSON that a tool's output may have before it is redacted and measured against the limit. */
export const rawBytes = 16_777_216;

/** A tool type with its code, not bound to anything yet: it can do nothing until it is given capabilities. */
export interface ToolContract extends ToolType {
  readonly shortDescription: string;
  readonly category: string;
  readonly requiresConnection: boolean;
  readonly capabilities: readonly string[];
  /** What its code may reach of a network, where it is a file of its own; absent for nothing. */
  readonly network?: ToolNetwork;
  /** Throws ToolInputError; returns the arguments with defaults applied. */
  parseInput(rawArgs: JsonValue): JsonValue | Promise<JsonValue>;
  /** Throws if the output is not of the declared shape. */
  parseOutput(rawOutput: unknown): JsonValue;
  /** Throws ToolUnavailableError, before anything happens, if a declared capability is not among those given. */
  execute(args: JsonValue, context: ToolInvocationContext, capabilities: ToolCapabilities): Promise<unknown>;
  /** Whether an earlier call of this key took effect; absent where the tool cannot say. */
  reconcile?(
    args: JsonValue,
    call: ToolInvocationContext & { readonly key: string },
    capabilities: ToolCapabilities,
  ): Promise<ReconcileAnswer>;
}

/** A contract whose code is in this process. */
export interface OwnContract extends ToolContract {
  parseInput(rawArgs: JsonValue): JsonValue;
}

/**
 * Defines a tool. Throws, when the file is loaded and not later, if the definition breaks a rule: a name, effect or
 * redaction that cannot be, a schema outside the restricted subset, an argument called connectionId.
 */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType, Needed extends CapabilityName>(
  definition: ToolDefinition<Input, Output, Needed>,
): OwnContract {
  return contractOf(definition, capabilityNames);
}

/** For a pack: defines tools that may be given what the pack declares, beside what every tool may. */
export function definingWith<Own extends object>(own: Readonly<Record<keyof Own & string, true>>) {
  const known = [...capabilityNames, ...Object.keys(own)];
  return <Input extends z.ZodObject, Output extends z.ZodType, Needed extends CapabilityName | (keyof Own & string)>(
    definition: ToolDefinition<Input, Output, Needed, Capabilities & Own>,
  ): OwnContract => contractOf(definition, known);
}

function contractOf<Input extends z.ZodObject, Output extends z.ZodType, Needed extends keyof Given & string, Given>(
  definition: ToolDefinition<Input, Output, Needed, Given>,
  known: readonly string[],
): OwnContract {
  const problems = definitionProblems(definition, known);
  if (problems.length > 0) throw new Error(`The tool ${nameOf(definition)} cannot be defined. ${problems.join(' ')}`);
  const { type, description, output, effect, redaction, requiresConnection } = definition;
  const input = definition.input.strict();
  const inputSchema = inputSchemaOf(input).schema;
  const capabilities: readonly string[] = Object.freeze([...definition.capabilities]);
  // Copied before the schema looks at it, so that it cannot change any more; what the schema makes of it the runner
  // measures.
  const parseOutput = (rawOutput: unknown): JsonValue => output.parse(plainJson(rawOutput, rawBytes)) as JsonValue;
  // The casts are where zod's word is taken: parseInput gave these arguments, and declared() checked these names.
  const granted = (given: ToolCapabilities) => declared(type, capabilities, given) as Pick<Given, Needed>;
  const reconcile: ToolContract['reconcile'] = async (args, call, given) =>
    readReconciled(await definition.reconcile?.(args as z.output<Input>, call, granted(given)));
  const contract: OwnContract = Object.freeze({
    type,
    description,
    shortDescription: definition.shortDescription ?? firstSentence(description),
    category: definition.category ?? otherCategory,
    inputSchema: deepFreeze(inputSchema),
    effect,
    redaction: deepFreeze(redaction),
    repeatable: definition.repeatable || effect === 'read_only',
    requiresConnection,
    capabilities,
    ...(definition.network === undefined || definition.network === 'none' ? {} : { network: definition.network }),
    parseInput: (rawArgs: JsonValue) => parseInput(input, rawArgs),
    parseOutput,
    execute: async (args: JsonValue, context: ToolInvocationContext, given: ToolCapabilities) =>
      definition.execute(args as z.output<Input>, context, granted(given)),
    ...(definition.reconcile === undefined ? {} : { reconcile }),
  });
  contracts.add(contract);
  return contract;
}

/**
 * What a tool said of an earlier call; its result is looked at as any output is. Throws where it says nothing that
 * can be used.
 */
export function readReconciled(said: unknown): ReconcileAnswer {
  const answer = said as { readonly outcome?: unknown; readonly result?: unknown } | null | undefined;
  switch (answer?.outcome) {
    case 'happened':
      return { outcome: 'happened', result: answer.result };
    case 'did_not_happen':
    case 'unknown':
      return { outcome: answer.outcome };
    default:
      throw new TypeError('The tool’s reconcile gives none of its three outcomes.');
  }
}

/** The category of tools that name none. */
const otherCategory = 'other';

const contracts = new WeakSet<ToolContract>();

/** Whether defineTool made it: then it keeps all the rules. */
export function isContract(value: unknown): value is OwnContract {
  return contracts.has(value as ToolContract);
}

/** What the configuration compiler needs to know of each contract. Throws if two have the same type. */
export function toolTypes(contracts: readonly ToolContract[]): readonly ToolType[] {
  const seen = new Set<string>();
  return contracts.map((contract) => {
    const { type, description, shortDescription, category, inputSchema, effect, redaction, repeatable } = contract;
    if (seen.has(type)) throw new Error(`Two tool contracts have the type "${type}". Rename one of them.`);
    seen.add(type);
    const connection = contract.requiresConnection ? { requiresConnection: true } : {};
    const texts = { description, shortDescription, category };
    return { type, ...texts, inputSchema, effect, redaction, repeatable, ...connection };
  });
}

/** Only what the contract declares, whatever else was given. */
function declared(type: string, names: readonly string[], given: ToolCapabilities): ToolCapabilities {
  return Object.freeze(
    Object.fromEntries(
      names.map((name) => {
        const capability = given[name];
        if (capability === undefined)
          throw new ToolUnavailableError(`The tool type ${type} needs "${name}", which this service does not have.`);
        return [name, capability];
      }),
    ),
  );
}

/** A definition can come from untyped code, where it may be anything. */
function nameOf(definition: unknown): string {
  const type = (definition as { readonly type?: unknown } | null | undefined)?.type;
  return typeof type === 'string' ? `"${type}"` : 'without a type';
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
