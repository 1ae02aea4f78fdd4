import type { TurnPart, WireName } from '@sluice/wires';
import { turnBytes } from '../../apps/proxy/test/scripted-model.js';

type Json = Readonly<Record<string, unknown>>;

interface Asked {
  readonly stream: boolean;
  readonly id: string;
  readonly parts: readonly TurnPart[];
  /** The request that is answered: OpenAI repeats its settings. */
  readonly request: Json;
}

/** A model’s turn with every field that its provider’s own schema requires, beside those that a client needs. */
export function fullAnswer(wire: WireName, { stream, request, ...turn }: Asked): Buffer {
  const bytes = turnBytes(wire, stream, turn);
  const full = (value: Json): Json => completed(wire, value, request);
  if (!stream) return Buffer.from(JSON.stringify(full(JSON.parse(bytes.toString()) as Json)));
  const lines = bytes.toString().split('\n');
  const written = lines.map((line) =>
    line.startsWith('data: {') ? `data: ${JSON.stringify(full(JSON.parse(line.slice(6)) as Json))}` : line,
  );
  return Buffer.from(written.join('\n'));
}

function completed(wire: WireName, value: Json, request: Json): Json {
  switch (wire) {
    case 'openai-chat':
      return { ...value, ...listOf('choices', value, fullChoice) };
    case 'openai-responses':
      return value['response'] === undefined
        ? value['object'] === 'response'
          ? fullResponse(value, request)
          : value
        : { ...value, response: fullResponse(value['response'] as Json, request) };
    case 'anthropic':
      if (value['type'] === 'message_start') return { ...value, message: fullMessage(value['message'] as Json) };
      if (value['type'] === 'content_block_start')
        return { ...value, content_block: fullBlock(value['content_block'] as Json) };
      return value['type'] === 'message' ? fullMessage(value) : value;
    default:
      return value;
  }
}

function listOf(name: string, value: Json, each: (item: Json) => Json): Json {
  const list = value[name];
  return Array.isArray(list) ? { [name]: (list as readonly Json[]).map(each) } : {};
}

function fullChoice(choice: Json): Json {
  const { message } = choice;
  const said = message === undefined ? {} : { message: { refusal: null, annotations: [], ...(message as Json) } };
  return { logprobs: null, ...choice, ...said };
}

/** The settings of a request as the Responses API repeats them. */
function fullResponse(response: Json, request: Json): Json {
  const given = (name: string, otherwise: unknown): Json => ({ [name]: request[name] ?? otherwise });
  const tools = (request['tools'] ?? []) as readonly Json[];
  return {
    ...{ completed_at: response['status'] === 'completed' ? 1 : null, usage: null },
    ...{ ...given('previous_response_id', null), ...given('instructions', null) },
    tools: tools.map((tool) => ({ description: null, strict: true, ...tool })),
    ...{ ...given('tool_choice', 'auto'), ...given('truncation', 'disabled'), ...given('parallel_tool_calls', true) },
    ...{ ...given('text', { format: { type: 'text' }, verbosity: 'medium' }), ...given('top_p', 1) },
    ...{ presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, ...given('temperature', 1) },
    ...{ ...given('reasoning', { effort: null, summary: null }), ...given('max_output_tokens', null) },
    ...{ ...given('max_tool_calls', null), ...given('store', true), background: false, service_tier: 'default' },
    ...{ ...given('metadata', {}), ...given('safety_identifier', null), ...given('prompt_cache_key', null) },
    ...response,
  };
}

function fullMessage(message: Json): Json {
  const usage = {
    ...{ cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 }, inference_geo: 'global' },
    ...{ output_tokens_details: { thinking_tokens: 0 }, server_tool_use: null, service_tier: 'standard' },
    ...(message['usage'] as Json),
  };
  return { stop_details: null, container: null, ...message, usage, ...listOf('content', message, fullBlock) };
}

function fullBlock(block: Json): Json {
  if (block['type'] === 'text') return { citations: null, ...block };
  return block['type'] === 'tool_use' ? { caller: { type: 'direct' }, ...block } : block;
}
