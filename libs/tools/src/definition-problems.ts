import { z } from 'zod';
import { schemaProblems } from '@sluice/schemas';
import { toolEffects } from '@sluice/core';
import { capabilityNames, ofConnections } from './capabilities.js';
import type { CapabilityName } from './capabilities.js';
import type { ToolDefinition } from './definition.js';
import { inputSchemaOf, openObjects } from './input-schema.js';
import { isNetwork } from './network.js';

const categoryForm = /^[A-Za-z0-9_-]+$/;

/**
 * What a definition must hold, as it may come from code that no compiler has seen, and what to write where it does
 * not.
 */
const parts: Readonly<
  Record<
    keyof Required<ToolDefinition<never, never, never>>,
    readonly [(value: unknown, known: readonly string[]) => boolean, string]
  >
> = {
  type: [isText, 'type: a text, the `type` of configuration entries'],
  description: [isText, 'description: a text, which is what a model reads'],
  shortDescription: [
    (value) => value === undefined || (isText(value) && (value as string).trim() !== ''),
    'shortDescription: when to use the tool, in one sentence, or leave it out',
  ],
  category: [
    (value) => value === undefined || (typeof value === 'string' && categoryForm.test(value)),
    'category: a word of letters, digits, "-" and "_", or leave it out',
  ],
  input: [(value) => value instanceof z.ZodObject, 'input: z.object({ … }), the arguments'],
  output: [(value) => value instanceof z.ZodType, 'output: a zod schema of the result, such as z.object({ … })'],
  effect: [isEffect, `effect: one of ${toolEffects.join(', ')}`],
  redaction: [
    isRedaction,
    'redaction: { fields: [ … ] } with the output fields that may leave the tool, or { whole: true }',
  ],
  capabilities: [
    areCapabilities,
    `capabilities: a list of what it uses, of ${capabilityNames.join(', ')}; [] for nothing`,
  ],
  repeatable: [
    (value) => typeof value === 'boolean',
    'repeatable: true if the same call twice changes nothing more, else false',
  ],
  requiresConnection: [
    (value) => typeof value === 'boolean',
    'requiresConnection: true if it needs a connection, else false',
  ],
  network: [
    (value) => value === undefined || isNetwork(value),
    "network: 'none', a list of hosts such as ['api.example.com'], or 'open'",
  ],
  execute: [(value) => typeof value === 'function', 'execute: an async function of (args, context, capabilities)'],
  reconcile: [
    (value) => value === undefined || typeof value === 'function',
    'reconcile: an async function of (args, call, capabilities), or leave it out',
  ],
};

/**
 * What keeps a value from being the definition of a tool that may use these capabilities, a sentence each; empty if
 * it is one.
 */
export function definitionProblems(value: unknown, known: readonly string[] = capabilityNames): readonly string[] {
  if (typeof value !== 'object' || value === null) return ['It is not an object with the parts of a tool.'];
  const given = value as Readonly<Record<string, unknown>>;
  const missing = Object.entries(parts).flatMap(([name, [fits, write]]) =>
    fits(given[name], known)
      ? []
      : [`Its ${name} is ${given[name] === undefined ? 'missing' : 'not usable'}: write ${write}.`],
  );
  const unknown = Object.keys(given)
    .filter((name) => !Object.hasOwn(parts, name))
    .map((name) => `It has the part ${name}, which no tool has: leave it out.`);
  if (missing.length + unknown.length > 0) return [...missing, ...unknown];
  const definition = value as ToolDefinition<z.ZodObject, z.ZodType, CapabilityName>;
  return [
    ...textProblems(definition),
    ...redactionProblems(definition),
    ...connectionProblems(definition),
    ...inputProblems(definition.input),
  ];
}

function textProblems({ type, description }: ToolDefinition<z.ZodObject, z.ZodType, CapabilityName>): string[] {
  const problems: string[] = [];
  if (!/^[A-Za-z0-9_-]+$/.test(type)) problems.push('Its type may hold letters, digits, "-" and "_" only.');
  if (description.trim() === '') problems.push('Write a description: it is what a model reads.');
  return problems;
}

function redactionProblems({ redaction, output }: ToolDefinition<z.ZodObject, z.ZodType, CapabilityName>): string[] {
  if ('whole' in redaction || !(output instanceof z.ZodObject)) return [];
  const unknown = redaction.fields.filter((field) => !(field in output.shape));
  return unknown.length === 0 ? [] : [`Its redaction names fields the output does not have: ${unknown.join(', ')}.`];
}

/** A tool that needs a connection must use one, and no other tool may. */
function connectionProblems({
  requiresConnection,
  capabilities,
}: ToolDefinition<z.ZodObject, z.ZodType, CapabilityName>): string[] {
  const used = (capabilities as readonly string[]).filter((name) =>
    (ofConnections as readonly string[]).includes(name),
  );
  if (requiresConnection === used.length > 0) return [];
  return requiresConnection
    ? [`It requires a connection and declares none of the capabilities ${ofConnections.join(', ')}: add one.`]
    : [`It declares ${used.join(', ')}, which is for tools that require a connection: write requiresConnection: true.`];
}

function inputProblems(input: z.ZodObject): readonly string[] {
  const { schema, unrepresentable } = inputSchemaOf(input.strict());
  const open = openObjects(schema).map(
    (path) => `Write z.strictObject for the input at ${path}: unknown names are refused.`,
  );
  return [
    ...unrepresentable.map(({ kind, path }) => `The input uses z.${kind} at ${path}, which JSON has no form for.`),
    ...schemaProblems(schema),
    ...open,
  ];
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isEffect(value: unknown): boolean {
  return toolEffects.some((effect) => effect === value);
}

function isRedaction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { fields, whole } = value as { readonly fields?: unknown; readonly whole?: unknown };
  if (whole !== undefined) return whole === true && fields === undefined;
  return Array.isArray(fields) && fields.length > 0 && fields.every(isText);
}

function areCapabilities(value: unknown, known: readonly string[]): boolean {
  return Array.isArray(value) && value.every((name) => known.some((each) => each === name));
}
