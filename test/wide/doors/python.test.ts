import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findPackages, finish } from '../../cluster/outside-tools.js';
import type { Tool } from '../../cluster/outside-tools.js';
import { startDoors } from '../../doors/with-doors.js';
import type { DoorSystem } from '../../doors/with-doors.js';

const model = 'sluice/default';
const comply: Tool = await findPackages(['llm-comply==0.5.0'], 'llm-comply');
const clients: Tool = await findPackages(['openai==3.57.0', 'anthropic==2.14.0'], 'sluice-door-clients');

/** The checks know by a model’s name whether it thinks. */
const thinking = { 'openai-chat': 'gpt-5', 'open-responses': 'gpt-5-mini', anthropic: 'claude-sonnet-4' } as const;

let doors: DoorSystem;
beforeAll(async () => {
  doors = await startDoors({}, '', Promise.resolve(), Object.values(thinking));
});
afterAll(() => doors.close());

/** What the program prints as JSON. */
async function run(tool: Tool, args: readonly string[]): Promise<unknown> {
  if ('missing' in tool) throw new Error(tool.missing);
  const { output, errors } = await finish(tool.command, args, { ...process.env, ...tool.variables }, 200_000);
  try {
    return JSON.parse(output) as unknown;
  } catch {
    throw new Error(`The program printed: ${output}${errors}`);
  }
}

interface Result {
  readonly id: string;
  readonly status: string;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

/**
 * Warnings about answers that pass: nothing compacts a conversation here, a message needs no `max_tokens`, since no run
 * has that limit, and the scripted model does not think.
 */
const warned = {
  'openai-chat': [expect.stringMatching(/reasoning_tokens is 0/)],
  'open-responses': [/output is missing/, /'compact'/, /'compaction'/].map((one) => expect.stringMatching(one)),
  anthropic: [/no thinking content/, /default max_tokens/].map((one) => expect.stringMatching(one)),
} as const;
const passing = { 'openai-chat': 9, 'open-responses': 13, anthropic: 9 } as const;

const hasComply = !('missing' in comply);
(hasComply ? describe : describe.skip)('llm-comply at the doors', () => {
  it.each([
    ['openai-chat', '/openai/v1'],
    ['open-responses', '/openai/v1'],
    ['anthropic', '/anthropic/v1'],
  ] as const)('finds nothing wrong in %s', async (format, base) => {
    const url = `${doors.gateway.url}${base}`;
    const args = ['-m', 'llm_comply.cli', '--json', '-k', 'key', '-u', url];
    const named = ['-m', `sluice/${thinking[format]}`, '--format', format];
    const { results } = (await run(comply, [...args, ...named])) as { readonly results: readonly Result[] };
    const others = results.filter(({ status }) => status !== 'passed');
    expect(Object.fromEntries(others.map(({ id, status }) => [id, status]))).toEqual({});
    expect(results.length - others.length).toBe(passing[format]);
    expect(results.filter(({ status }) => status === 'passed').flatMap(({ warnings = [] }) => warnings)).toEqual(
      warned[format],
    );
  });
});

const hasClients = !('missing' in clients);
(hasClients ? describe : describe.skip)('the providers’ Python clients at the doors', () => {
  it('read whole and streamed answers, and refusals', async () => {
    const said = 'I look.\n\nFound.';
    const program = join(import.meta.dirname, 'python-clients.py');
    expect(await run(clients, [program, doors.gateway.url, model])).toEqual({
      ...{
        models: [model, ...[...Object.values(thinking), 'support'].sort().map((name) => `sluice/${name}`)],
        chat: said,
        chat_stream: said,
        responses: said,
        responses_again: said,
      },
      ...{ responses_stream: said, refused: 'model_not_found', messages: said, messages_stream: said },
    });
  });
});
