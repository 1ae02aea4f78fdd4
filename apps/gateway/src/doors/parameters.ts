import { isJsonObject } from '@sluice/core';
import { Refusal } from '../refusal.js';
import type { DoorWire } from './door.js';

type Body = Readonly<Record<string, unknown>>;

/** Members of a body that are read, or of which only the values that change nothing pass. */
const read: Readonly<Record<DoorWire, readonly string[]>> = {
  'openai-chat': [
    ...['model', 'messages', 'stream', 'stream_options', 'metadata', 'tools', 'tool_choice', 'response_format'],
  ],
  'openai-responses': [
    ...['model', 'input', 'instructions', 'stream', 'metadata', 'tools', 'tool_choice', 'previous_response_id', 'text'],
    'reasoning',
  ],
  anthropic: [
    ...['model', 'messages', 'system', 'stream', 'metadata', 'tools', 'tool_choice', 'output_config', 'output_format'],
  ],
};

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isFalse = (value: unknown): boolean => value === false;

const noTools =
  'Tools that a provider runs are not here. Send functions of your own as `tools`, or leave the parameter out.';

interface Rule {
  readonly passes: (value: unknown) => boolean;
  readonly message: string;
}

const hosted: Rule = { passes: isEmptyList, message: noTools };
const never = (message: string): Rule => ({ passes: () => false, message });
const one: Rule = { passes: (value) => value === 1, message: 'There is one answer to a request here. Leave n out.' };
const logprobs: Rule = { passes: isFalse, message: 'An answer comes from a whole run, which has no logprobs.' };
const noAudio = 'Answers are texts here. Leave the parameter out.';
const onlyText: Rule = {
  passes: (value) => Array.isArray(value) && value.every((each) => each === 'text'),
  message: noAudio,
};

/** What changes the meaning of an answer so much that it is refused instead of left out. */
const refused: Readonly<Record<DoorWire, Readonly<Record<string, Rule>>>> = {
  'openai-chat': {
    ...{ functions: hosted, function_call: never(noTools), web_search_options: never(noTools), n: one, logprobs },
    ...{ modalities: onlyText, audio: never(noAudio) },
  },
  'openai-responses': {
    background: { passes: isFalse, message: 'Every run goes on without its client here. Leave background out.' },
    conversation: never('Go on from an answer with previous_response_id, or send the conversation as input.'),
    prompt: never('The agent’s configuration has its prompt. Leave the parameter out.'),
  },
  anthropic: { mcp_servers: hosted, container: never(noTools) },
};

/** What is read of a member; thoughts of models are shown in any case. */
const readOf: Readonly<Record<string, string>> = { text: 'format', output_config: 'format', reasoning: 'summary' };

/** What stands beside that, such as how long an answer is wished, and how the model is to think. */
function besideForm(name: string, value: unknown): readonly string[] {
  const own = readOf[name];
  if (own === undefined) return [];
  if (!isJsonObject(value)) return [name];
  return Object.entries(value).flatMap(([key, one]) => (key === own || one === null ? [] : [`${name}.${key}`]));
}

/**
 * The members of a body that mean nothing to a run, such as a temperature, which are named to the client. Throws
 * Refusal(400) for one that cannot be left out.
 */
export function ignoredParameters(wire: DoorWire, body: Body): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    if (read[wire].includes(name)) return besideForm(name, value);
    const rule = Object.hasOwn(refused[wire], name) ? refused[wire][name] : undefined;
    if (rule === undefined) return [name];
    if (rule.passes(value)) return [];
    throw new Refusal(400, 'invalid_request', rule.message, {}, { param: name, wire_code: 'unsupported_parameter' });
  });
}
