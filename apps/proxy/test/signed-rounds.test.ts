import { afterEach, describe, expect, it } from '@jest/globals';
import {
  decodeStream,
  decodeTurn,
  encodeRequest,
  type DecodedTurn,
  type Message,
  type ResultPart,
} from '@sluice/wires';
import { startTestProxy, type TestProxy } from './proxying.js';
import { apiOf, pathOf, text, tools } from './scripted-model.js';
import { errands, SigningModel, type SigningWire, thought } from './signing-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const wires: readonly SigningWire[] = ['anthropic', 'bedrock-anthropic', 'bedrock', 'openai-responses', 'openai-chat'];

interface Setup {
  readonly model: SigningModel;
  readonly proxy: TestProxy;
}

async function between(
  wire: SigningWire,
  secrets: Readonly<Record<string, string>> = {},
  decide = errands,
): Promise<Setup> {
  const model = await SigningModel.start(wire, decide);
  const proxy = await startTestProxy(
    `
pipes: { tool_discovery: { enabled: true, strategy: tool-search } }
proxy: { upstreams: { main: { api: ${apiOf(wire)}, url: '${model.upstream.url}' } } }
`,
    secrets,
  );
  open.push(proxy, model.upstream);
  return { model, proxy };
}

/** A client as SDKs are: it sends back what it got, as it got it. */
class Client {
  messages: Message[] = [];
  key = 'sk-ann';
  hasTools = true;

  constructor(
    private readonly setup: Setup,
    private readonly wire: SigningWire,
    private readonly stream: boolean,
  ) {}

  async ask(onPiece: (piece: string) => void = () => undefined): Promise<DecodedTurn> {
    const { wire, stream } = this;
    const { body } = encodeRequest(wire, {
      ...{ model: 'm', instructions: '', messages: this.messages, tools: (this.hasTools ? tools : []) as never },
      ...{ toolChoice: null, maxOutputTokens: 100, temperature: null, topP: null, stopSequences: [], stream },
    });
    const response = await fetch(`${this.setup.proxy.url}${pathOf(wire, stream)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.key}` },
      body,
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body ?? []) {
      onPiece(Buffer.from(piece).toString());
      pieces.push(piece);
    }
    const bytes = Buffer.concat(pieces);
    expect([response.status, response.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
    if (!stream) return decodeTurn(wire, bytes.toString());
    const decoder = decodeStream(wire);
    decoder.push(bytes);
    return decoder.end();
  }

  say(said: string): void {
    this.messages.push({ role: 'user', parts: [text(said) as never] });
  }

  /** Asks, runs what is called, and asks again until there is an answer. */
  async errand(said: string): Promise<string> {
    this.say(said);
    for (;;) {
      const turn = await this.ask();
      this.messages.push({ role: 'assistant', parts: turn.parts });
      const calls = turn.parts.flatMap((part) => (part.type === 'call' ? [part] : []));
      if (calls.length === 0) return turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      const results = calls.map(({ toolCallId, name }): ResultPart => {
        const result = name === 'send_mail' ? 'letter is sent' : 'cloudy';
        return { type: 'result', toolCallId, name, text: result, isError: false };
      });
      this.messages.push({ role: 'user', parts: results });
    }
  }
}

const variants = wires.flatMap((wire) => [true, false].map((stream) => [wire, stream ? 'streamed' : 'whole'] as const));

describe('signed thoughts over rounds that the client does not see', () => {
  it.each(variants)('come back to their provider in the rounds that they came in: %s, %s', async (wire, how) => {
    const setup = await between(wire);
    const client = new Client(setup, wire, how === 'streamed');
    expect(await client.errand('What is the sky like?')).toContain('It is cloudy');
    expect(await client.errand('Now write a letter')).toContain('All is done');
    expect(await client.errand('Thanks')).toContain('All is done');
    expect(setup.model.refused).toEqual([]);
    const last = setup.model.upstream.received.at(-1)?.body.toString() ?? '';
    // The client never saw these; the provider has them back.
    expect(last).toContain('call-s-1');
    expect(JSON.stringify(client.messages)).not.toContain('call-s-');
  });

  it.each(variants)(
    'go on as those of the last round alone where the rounds are not this caller’s: %s, %s',
    async (wire, how) => {
      const setup = await between(wire);
      const client = new Client(setup, wire, how === 'streamed');
      await client.errand('What is the sky like?');
      client.key = 'sk-bob';
      client.say('Thanks');
      await client.ask();
      expect(setup.model.refused).toEqual([]);
      const last = setup.model.upstream.received.at(-1)?.body.toString() ?? '';
      expect(last).not.toContain('call-s-1');
      if (wire !== 'openai-chat') expect(last).not.toContain('signature-1');
      else expect(last).not.toContain('"signature-1-of-openai-chat"');
      expect(last).toContain('signature-2');
    },
  );

  it.each(['anthropic', 'openai-responses'] as const)(
    'go on without the rounds where the request has no tools: %s',
    async (wire) => {
      const setup = await between(wire, {}, ({ n }) =>
        n === 1 ? errands({ body: '', tools: [], n }) : [text(`Cloudy ${String(n)}`)],
      );
      const client = new Client(setup, wire, true);
      await client.errand('What is the sky like?');
      client.hasTools = false;
      await client.errand('Thanks');
      expect(setup.model.refused).toEqual([]);
      expect(setup.model.upstream.received.at(-1)?.body.toString()).not.toContain('call-s-1');
    },
  );

  it('do not overwrite what a person changed in an answer', async () => {
    const setup = await between('anthropic', {}, ({ n }) =>
      n === 1 ? errands({ body: '', tools: [], n }) : [text('Cloudy')],
    );
    const client = new Client(setup, 'anthropic', false);
    await client.errand('What is the sky like?');
    const [question, answer] = client.messages;
    const edited = (answer?.parts ?? []).flatMap((part) => (part.type === 'text' ? [text('Sunny')] : []));
    client.messages = [question as Message, { role: 'assistant', parts: edited }];
    await client.errand('Thanks');
    const last = setup.model.upstream.received.at(-1)?.body.toString() ?? '';
    expect(last).toContain('Sunny');
    expect(last).not.toContain('call-s-1');
  });

  it('are sealed where a key is named, and found all the same', async () => {
    const written: string[] = [];
    const setup = await between('anthropic', { SLUICE_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });
    const { documents } = setup.proxy.runtime as unknown as {
      documents: { put(key: string, version: number, text: string, expiresAt: number | null): Promise<boolean> };
    };
    const put = documents.put.bind(documents);
    documents.put = (key, version, kept, expiresAt) => {
      if (!key.startsWith('discovery/')) written.push(kept);
      return put(key, version, kept, expiresAt);
    };
    const client = new Client(setup, 'anthropic', true);
    await client.errand('What is the sky like?');
    await client.errand('Thanks');
    expect(setup.model.refused).toEqual([]);
    expect(setup.model.upstream.received.at(-1)?.body.toString()).toContain('call-s-1');
    expect(written.length).toBeGreaterThan(2);
    expect(written.join()).not.toMatch(/Thought|signature|the sky like/);
  });

  it.each(wires)('are kept before the client has the end of its answer: %s', async (wire) => {
    const setup = await between(wire);
    const { documents } = setup.proxy.runtime as unknown as {
      documents: { put(key: string, ...args: unknown[]): Promise<boolean> };
    };
    let isKept = false;
    const put = documents.put.bind(documents);
    documents.put = async (key, ...args) => {
      const isRounds = key.startsWith('discovery-rounds/');
      // A slow database.
      if (isRounds) await new Promise((resolve) => setTimeout(resolve, 100));
      const isDone = await put(key, ...args);
      isKept ||= isRounds;
      return isDone;
    };
    const client = new Client(setup, wire, true);
    client.say('What is the sky like?');
    const ends = /message_stop|bWVzc2FnZV9zdG9w|messageStop|finish_reason":"|\[DONE\]|response\.completed/;
    const atEnd: boolean[] = [];
    await client.ask((piece) => {
      if (ends.test(piece)) atEnd.push(isKept);
    });
    expect(new Set(atEnd)).toEqual(new Set([true]));
  });

  it('leave the mark of a client’s cache at the end of its answer', async () => {
    const setup = await between('anthropic');
    const client = new Client(setup, 'anthropic', true);
    await client.errand('What is the sky like?');
    const body = JSON.parse(setup.model.upstream.received.at(-1)?.body.toString() ?? '{}') as { messages: unknown[] };
    expect(body.messages).toHaveLength(5);
    const sent = encodeRequest('anthropic', {
      ...{ model: 'm', instructions: '', messages: client.messages, tools: tools as never, toolChoice: null },
      ...{ maxOutputTokens: 9, temperature: null, topP: null, stopSequences: [], stream: false },
    }).body;
    const marked = JSON.parse(sent) as { messages: { role: string; content: Record<string, unknown>[] }[] };
    const block = marked.messages[1]?.content.at(-1);
    if (block !== undefined) block['cache_control'] = { type: 'ephemeral' };
    marked.messages.push({ role: 'user', content: [{ type: 'text', text: 'Thanks' }] });
    await fetch(`${setup.proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-ann' },
      body: JSON.stringify(marked),
    });
    expect(setup.model.refused).toEqual([]);
    const last = JSON.parse(setup.model.upstream.received.at(-1)?.body.toString() ?? '{}') as typeof marked;
    const at = last.messages.findIndex(({ content }) => content.some((one) => one['cache_control'] !== undefined));
    expect(last.messages[at]?.content.map((one) => [one['type'], one['cache_control'] !== undefined])).toEqual([
      ['thinking', false],
      ['tool_use', true],
    ]);
  });

  it('stand in their rounds too where their tokens are counted, and where instructions follow them', async () => {
    const setup = await between('anthropic');
    const client = new Client(setup, 'anthropic', false);
    await client.errand('What is the sky like?');
    await client.errand('Now write a letter');
    const { body } = encodeRequest('anthropic', {
      ...{ model: 'm', instructions: '', messages: client.messages, tools: tools as never, toolChoice: null },
      ...{ maxOutputTokens: 9, temperature: null, topP: null, stopSequences: [], stream: false },
    });
    const request = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
    // As Claude Code does, behind the answer that searched beside a call.
    const at = request.messages.findIndex(({ content }) => JSON.stringify(content).includes('Bergen'));
    request.messages.splice(at + 1, 0, { role: 'system', content: 'Be brief.' });
    setup.model.upstream.script = (_, response) => void response.end('{"input_tokens":7}');
    const response = await fetch(`${setup.proxy.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer sk-ann',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(request),
    });
    expect(await response.json()).toEqual({ input_tokens: 7 });
    const counted = JSON.parse(setup.model.upstream.received.at(-1)?.body.toString() ?? '{}') as typeof request;
    const messages = counted.messages.filter(({ role }) => role !== 'system');
    expect(setup.model.problemOf({ messages })).toBeNull();
    expect(JSON.stringify(messages)).toContain('call-s-1');
    expect(counted.messages).toHaveLength(messages.length + 1);
  });

  it('of Gemini pass with every byte', async () => {
    const setup = await between('anthropic');
    expect(thought('anthropic', 1)).toMatchObject({ type: 'reasoning' });
    await setup.proxy.close();
    open.splice(open.indexOf(setup.proxy), 1);
    const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: tool-search } }
proxy: { upstreams: { main: { api: gemini, url: '${setup.model.upstream.url}' } } }
`);
    open.push(proxy);
    setup.model.upstream.script = (_, response) => void response.end('{}');
    const body = JSON.stringify({
      contents: [
        { role: 'user', parts: [{ text: 'Sky?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'a', args: {} }, thoughtSignature: 'c2ln' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'a' }] }],
    });
    await fetch(`${proxy.url}/v1beta/models/m:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(setup.model.upstream.received.at(-1)?.body.toString()).toBe(body);
  });
});
