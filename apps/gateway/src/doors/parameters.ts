import { Refusal } from '../refusal.js';
import type { DoorWire } from './door.js';

type Body = Readonly<Record<string, unknown>>;

/** Members of a body that are read, or of which only the values that change nothing pass. */
const read: Readonly<Record<DoorWire, readonly string[]>> = {
  'openai-chat': ['model', 'messages', 'stream', 'stream_options', 'metadata', 'tool_choice'],
  'openai-responses': ['model', 'input', 'instructions', 'stream', 'metadata', 'tool_choice', 'previous_response_id'],
  anthropic: ['model', 'messages', 'system', 'stream', 'metadata', 'tool_choice'],
};

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isFalse = (value: unknown): boolean => value === false;
const isText = (value: unknown): boolean => (value as { readonly type?: unknown }).type === 'text';

const noTools =
  'This door takes no tools of the client: the agent has those of its configuration. Leave the parameter out.';
const noForm = 'This door gives answers as text alone so far. Leave the parameter out, or ask for the type text.';

interface Rule {
  readonly passes: (value: unknown) => boolean;
  readonly message: string;
}

const tools: Rule = { passes: isEmptyList, message: noTools };
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
    ...{ tools, functions: tools, function_call: never(noTools), web_search_options: never(noTools), n: one, logprobs },
    ...{ modalities: onlyText, audio: never(noAudio), response_format: { passes: isText, message: noForm } },
  },
  'openai-responses': {
    tools,
    background: { passes: isFalse, message: 'Every run goes on without its client here. Leave background out.' },
    conversation: never('Go on from an answer with previous_response_id, or send the conversation as input.'),
    prompt: never('The agent’s configuration has its prompt. Leave the parameter out.'),
    text: {
      passes: (value) => {
        const { format = { type: 'text' } } = value as { readonly format?: unknown };
        return isText(format);
      },
      message: noForm,
    },
  },
  anthropic: {
    ...{ tools, mcp_servers: tools, container: never(noTools), output_format: never(noForm) },
    output_config: { passes: (value) => (value as { format?: unknown }).format === undefined, message: noForm },
  },
};

/**
 * The members of a body that mean nothing to a run, such as a temperature, which are named to the client. Throws
 * Refusal(400) for one that cannot be left out.
 */
export function ignoredParameters(wire: DoorWire, body: Body): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || value === undefined || read[wire].includes(name)) return [];
    const rule = Object.hasOwn(refused[wire], name) ? refused[wire][name] : undefined;
    if (rule === undefined) return [name];
    if (rule.passes(value)) return [];
    throw new Refusal(400, 'invalid_request', rule.message, {}, { param: name, wire_code: 'unsupported_parameter' });
  });
}
