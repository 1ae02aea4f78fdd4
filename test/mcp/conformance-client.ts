import { createHash } from 'node:crypto';
import { pinOf } from '@sluice/core';
import { convertOffer } from '@sluice/schemas';
import type { JsonObject, JsonValue, OfferedTool } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpCallOptions } from '@sluice/hub';

/**
 * The client that the conformance scenarios start: the hub, against the scenario's server. It does what the hub does
 * at a server with such tools: it lists them, calls each that a configuration could allow, and reads the resources
 * and prompts that an entry could pass on.
 */
const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const server = { id: 'scenario', command: null, args: [], env: [], url, startMs: 10_000 };

interface Given {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Given;

const hub = createMcpHub([server], {
  environment: () => ({}),
  onChange: () => undefined,
  log: (_, message) => process.stderr.write(`${message}\n`),
});

function options(pin: string | null, kind?: 'resource' | 'prompt'): McpCallOptions {
  const { signal } = new AbortController();
  // A person who accepts each form as it stands.
  const answers = { elicit: () => Promise.resolve({ action: 'accept' as const, content: {} }) };
  return { signal, answers, idempotencyKey: 'k', timeoutMs: 20_000, pin, ...(kind === undefined ? {} : { kind }) };
}

/** What the call gave, or why it gave nothing: a scenario judges what was sent, and some make calls fail. */
async function attempt(what: string, call: () => Promise<JsonValue>): Promise<JsonValue> {
  try {
    const value = await call();
    process.stdout.write(`${what}: ${JSON.stringify(value)}\n`);
    return value;
  } catch (error) {
    process.stderr.write(`${what}: ${String(error)}\n`);
    return null;
  }
}

/** Arguments that fit a simple schema. */
function sample({ properties }: JsonObject): JsonObject {
  const one = ({ type }: JsonObject): JsonValue =>
    type === 'number' || type === 'integer' ? 2 : type === 'boolean' ? true : type === 'object' ? {} : 'x';
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, schema]) => [name, one(schema as JsonObject)]),
  );
}

function argumentsFor(tool: OfferedTool, all: readonly OfferedTool[]): readonly JsonObject[] {
  // This scenario wants the schema of the one tool as the argument of the other.
  if (scenario.startsWith('json-schema-2020-12'))
    return [{ ...sample(tool.inputSchema), schema: all.find((one) => one !== tool)?.inputSchema ?? {} }];
  const named = given.toolCalls?.filter(({ name }) => name === tool.name).map((call) => call.arguments) ?? [];
  return named.length > 0 ? named : [sample(tool.inputSchema)];
}

const [offer] = await hub.discover();
if (offer === undefined || !('tools' in offer)) {
  process.stderr.write(`${offer?.error ?? 'nothing was asked'}\n`);
  process.exitCode = 1;
} else {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  for (const tool of offer.tools.filter((one) => !('problems' in convertOffer(one))))
    for (const args of argumentsFor(tool, offer.tools))
      await attempt(tool.name, () => hub.call('scenario', tool.name, args, options(pinOf(tool, digest))));
  const listed = await attempt('resources', () => hub.call('scenario', '*', {}, options(null, 'resource')));
  const { resources = [] } = (listed ?? {}) as { resources?: readonly { uri: string }[] };
  for (const { uri } of resources)
    await attempt(uri, () => hub.call('scenario', '*', { uri }, options(null, 'resource')));
  const prompt = (args: JsonObject) => hub.call('scenario', 'test_prompt', args, options(null, 'prompt'));
  const { prompts = [] } = ((await attempt('prompts', () => prompt({}))) ?? {}) as { prompts?: readonly unknown[] };
  if (prompts.length > 0) await attempt('test_prompt', () => prompt({ arguments: {} }));
}
await hub.close();
