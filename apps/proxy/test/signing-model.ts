import type { TurnPart, WireName } from '@sluice/wires';
import { ScriptedUpstream } from './proxying.js';
import { answerIn, call, contentTypeOf, searchCall, text, turnBytes } from './scripted-model.js';

/**
 * A model API that signs what its model thinks, and refuses a conversation in which a signed turn is not one that it
 * gave.
 */
export type SigningWire = Exclude<WireName, 'gemini'>;

type Json = Record<string, unknown>;
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** A thought as its provider signs it. */
export function thought(wire: SigningWire, n: number): TurnPart {
  const said = `Thought number ${String(n)}.`;
  const signature = `signature-${String(n)}-of-${wire}`;
  const echo = (fields: Json): TurnPart => ({
    type: 'reasoning',
    text: said,
    echo: { wire: wire === 'bedrock-anthropic' ? 'anthropic' : wire, fields: fields as never },
  });
  switch (wire) {
    case 'anthropic':
    case 'bedrock-anthropic':
    case 'bedrock':
      return echo({ signature });
    case 'openai-responses':
      return echo({ id: `rs_${String(n)}`, encrypted_content: signature });
    case 'openai-chat':
      return echo({
        as: 'reasoning',
        reasoning_details: [{ type: 'reasoning.text', text: said, signature, index: 0 }],
      });
  }
}

/** What an API compares of a turn: everything but what clients may add. */
function canon(blocks: readonly Json[]): string {
  return JSON.stringify(blocks.map(({ cache_control: _, status: _status, ...block }) => sorted(block)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

interface Block {
  readonly isThought: boolean;
  readonly callId: string | undefined;
  readonly resultId: string | undefined;
}

function blockOf(block: Json): Block {
  const [use, result] = [block['toolUse'] as Json | undefined, block['toolResult'] as Json | undefined];
  const callId = block['type'] === 'tool_use' ? block['id'] : use?.['toolUseId'];
  const resultId = block['type'] === 'tool_result' ? block['tool_use_id'] : result?.['toolUseId'];
  return {
    isThought: /thinking/.test(String(block['type'])) || block['reasoningContent'] !== undefined,
    callId: callId as string | undefined,
    resultId: resultId as string | undefined,
  };
}

export class SigningModel {
  private readonly given: string[] = [];
  private readonly outputs: (readonly Json[])[] = [];
  /** What it refused. */
  readonly refused: string[] = [];
  private turns = 0;

  private constructor(
    private readonly wire: SigningWire,
    readonly upstream: ScriptedUpstream,
  ) {}

  /** `decide` says what the model does, behind its thought. */
  static async start(
    wire: SigningWire,
    decide: (request: {
      readonly body: string;
      readonly tools: readonly string[];
      readonly n: number;
    }) => readonly TurnPart[],
  ): Promise<SigningModel> {
    const upstream = await ScriptedUpstream.start(() => undefined);
    const model = new SigningModel(wire, upstream);
    upstream.script = async ({ body, target }, response) => {
      const request = JSON.parse(body.toString()) as Json;
      const problem = model.problemOf(request);
      if (problem !== null) {
        model.refused.push(problem);
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: problem } }));
        return;
      }
      const n = ++model.turns;
      const isStream = request['stream'] === true || /stream$/.test(target);
      const tools = toolsOf(request);
      const parts = [thought(wire, n), ...decide({ body: body.toString(), tools, n })];
      const id = `turn-${String(n)}`;
      model.give(parts, id);
      await answerIn(response, contentTypeOf(wire, isStream), [turnBytes(wire, isStream, { parts, id })]);
    };
    return model;
  }

  private give(parts: readonly TurnPart[], id: string): void {
    const { wire } = this;
    const turn = JSON.parse(turnBytes(wire, false, { parts, id }).toString()) as Json;
    const message = ((turn['output'] as Json | undefined)?.['message'] ?? turn) as Json;
    const choice = (list(turn['choices'])[0]?.['message'] ?? {}) as Json;
    if (wire === 'openai-responses') this.outputs.push(list(turn['output']));
    else this.given.push(wire === 'openai-chat' ? chatCanon(choice) : canon(list(message['content'])));
  }

  /** Why it refuses a request; null where it takes it. */
  problemOf(request: Json): string | null {
    if (this.wire === 'openai-responses') return this.itemProblem(list(request['input']));
    const messages = list(request['messages']);
    return this.wire === 'openai-chat' ? this.chatProblem(messages) : this.messageProblem(messages);
  }

  private messageProblem(messages: readonly Json[]): string | null {
    for (const [at, message] of messages.entries()) {
      const content = list(message['content']);
      const blocks = content.map(blockOf);
      const place = `messages.${String(at)}.content`;
      if (message['role'] === messages[at - 1]?.['role']) return `${place}: roles must alternate`;
      if (message['role'] === 'assistant') {
        if (blocks.some(({ isThought }) => isThought) && !this.given.includes(canon(content)))
          return `${place}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified.`;
        const next = list(messages[at + 1]?.['content']).map(blockOf);
        const missing = blocks.find(
          ({ callId }) => callId !== undefined && !next.some(({ resultId }) => resultId === callId),
        );
        if (missing !== undefined)
          return `${place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
      } else {
        const before = list(messages[at - 1]?.['content']).map(blockOf);
        const orphan = blocks.find(
          ({ resultId }) => resultId !== undefined && !before.some(({ callId }) => callId === resultId),
        );
        if (orphan !== undefined) return `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`;
        const places = blocks.map(({ resultId }) => resultId !== undefined);
        if (places.lastIndexOf(true) > places.indexOf(false) && places.includes(false))
          return `${place}: \`tool_result\` blocks must stand first`;
      }
    }
    return null;
  }

  private itemProblem(items: readonly Json[]): string | null {
    for (const [at, item] of items.entries()) {
      const output = this.outputs.find((one) =>
        one.some((given) => given['id'] !== undefined && given['id'] === item['id']),
      );
      if (item['type'] === 'reasoning') {
        const index = output?.findIndex(({ id }) => id === item['id']) ?? -1;
        const given = output?.[index];
        if (given === undefined || canon([given]) !== canon([item])) return `Item '${String(item['id'])}' was changed.`;
        const [following, next] = [output?.[index + 1], items[at + 1]];
        const isSame = next !== undefined && following !== undefined && same(following, next);
        if (!isSame)
          return `Item '${String(item['id'])}' of type 'reasoning' was provided without its required following item.`;
      }
      if (
        item['type'] === 'function_call' &&
        !items.some((one) => one['type'] === 'function_call_output' && one['call_id'] === item['call_id'])
      )
        return `No tool output found for function call ${String(item['call_id'])}.`;
      if (
        item['type'] === 'function_call_output' &&
        !items.some((one) => one['type'] === 'function_call' && one['call_id'] === item['call_id'])
      )
        return `No tool call found for function call output with call_id ${String(item['call_id'])}.`;
    }
    return null;
  }

  private chatProblem(messages: readonly Json[]): string | null {
    for (const [at, message] of messages.entries()) {
      const calls = list(message['tool_calls']);
      if (message['role'] !== 'assistant' || calls.length === 0) continue;
      if (message['reasoning_details'] !== undefined && !this.given.includes(chatCanon(message)))
        return `messages[${String(at)}]: reasoning_details must be those of the response`;
      const results = messages.slice(at + 1, at + 1 + calls.length).map((one) => one['tool_call_id']);
      if (!calls.every(({ id }) => results.includes(id)))
        return `messages[${String(at)}]: tool_calls without their results`;
    }
    return null;
  }
}

function same(given: Json, item: Json): boolean {
  if (given['type'] === 'function_call') return given['call_id'] === item['call_id'];
  return given['type'] === item['type'] && given['id'] === item['id'];
}

function chatCanon({ reasoning_details, tool_calls }: Json): string {
  // Their numbers are those of the pieces of a stream.
  return canon([...list(reasoning_details).map(({ index: _, ...detail }) => detail), ...list(tool_calls)]);
}

function toolsOf(request: Json): readonly string[] {
  const config = request['toolConfig'] as Json | undefined;
  return list(config?.['tools'] ?? request['tools']).map((tool) => {
    const of = (tool['function'] ?? tool['toolSpec'] ?? tool) as Json;
    return String(of['name']);
  });
}

/**
 * Searches for the weather, calls it, answers; asked for mail, searches for it beside another look at the weather,
 * sends it, answers.
 */
export function errands({
  body,
  tools,
  n,
}: {
  readonly body: string;
  readonly tools: readonly string[];
  readonly n: number;
}): readonly TurnPart[] {
  const at = String(n);
  const has = (name: string): boolean => tools.includes(name);
  if (body.includes('letter is sent')) return [text(`All is done (${at}).`)];
  if (has('send_mail')) return [call('send_mail', {}, `call-mail-${at}`)];
  if (body.includes('Now write'))
    return [searchCall('letter', `call-s-${at}`), call('get_weather', { city: 'Bergen' }, `call-w-${at}`)];
  if (body.includes('cloudy')) return [text(`It is cloudy (${at}).`)];
  if (has('get_weather')) return [call('get_weather', { city: 'Oslo' }, `call-w-${at}`)];
  return [text('Let me see. '), searchCall('weather', `call-s-${at}`)];
}
