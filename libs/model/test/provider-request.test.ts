import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelRequest, ModelSettings, ToolChoice } from '@sluice/core';
import { createModel } from '@sluice/model';
import { parse } from 'yaml';
import { requestOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { send, startEndpoint, type Endpoint, type Received } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import { offered, past } from './wires/past.js';
import type { Wire } from './wires/wire.js';

const requests = parse(readFileSync(new URL('wires/requests.yaml', import.meta.url), 'utf8')) as Record<
  string,
  { readonly path: string; readonly body: unknown }
>;
const choices = parse(readFileSync(new URL('wires/choices.yaml', import.meta.url), 'utf8')) as Record<
  string,
  Partial<Record<ToolChoice['type'], object>>
>;
const full = requestOf({ instructions: 'Be brief.', question: 'Who?', tools: offered, history: past });

/** What each wire carries the key in. */
const keyHeaders: Readonly<Record<string, readonly [string, string]>> = {
  openai: ['authorization', 'Bearer the-key'],
  openaiResponses: ['authorization', 'Bearer the-key'],
  anthropic: ['x-api-key', 'the-key'],
  google: ['x-goog-api-key', 'the-key'],
  bedrock: ['authorization', 'AWS4-HMAC-SHA256 Credential=the-key/'],
};

describe.each<[string, Wire]>(Object.entries({ openai, openaiResponses, anthropic, google, bedrock }))(
  'what goes over the %s wire',
  (name, wire) => {
    let endpoint: Endpoint;

    beforeEach(async () => {
      endpoint = await startEndpoint();
      endpoint.respond = async (response) => {
        response.writeHead(200, { 'content-type': wire.contentType });
        await send(response, wire.encode({ text: ['ok'] }));
        response.end();
      };
    });
    afterEach(() => endpoint.close());

    async function sent(request: ModelRequest): Promise<Received> {
      const settings: ModelSettings = {
        baseUrl: endpoint.url,
        apiKeyEnv: null,
        region: null,
        maxOutputTokens: 256,
        ...wire.settings,
      };
      const model = await createModel(settings, {
        secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key'),
      });
      await model.turn(request, { signal: new AbortController().signal });
      const [received] = endpoint.received;
      if (received === undefined) throw new Error('The endpoint received nothing.');
      return received;
    }

    it('G-05, T-18a, G-31, T-11b, T-12a, T-12b, T-12d, K-03, S-07, T-15a, T-15b, T-15d, T-15e, K-15, K-17: the offered tools and no other, the question as it is, and the history turn by turn', async () => {
      const { path, body, headers } = await sent(full);
      expect({ path, body }).toEqual(requests[name]);
      const [header, value] = keyHeaders[name] ?? ['', ''];
      expect(headers[header]).toContain(value);
    });

    it('the session’s earlier questions and answers stand before the question, the oldest first', async () => {
      const earlier = [
        { question: 'When?', answer: 'In May.' },
        { question: 'Where?', answer: '' },
      ];
      const { body } = await sent({ ...full, earlier });
      const text = JSON.stringify(body);
      const places = ['When?', 'In May.', 'Where?', '(empty)', 'Who?'].map((part) => text.indexOf(part));
      expect(places.every((place) => place > 0)).toBe(true);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    });

    it('XG-21: tells the history as text when no tools are offered, which is what every wire accepts', async () => {
      const { body } = await sent({ ...full, tools: [] });
      const text = JSON.stringify(body);
      expect(text).not.toMatch(/tool_use|tool_calls|toolUse|functionCall|toolConfig|"tools"/);
      for (const part of [
        'Both.',
        'I called core__find with',
        'found',
        'mcp__s__note failed: The arguments are not JSON.',
      ]) {
        expect(text).toContain(part);
      }
    });

    it.each<ToolChoice>([{ type: 'required' }, { type: 'tool', id: 'mcp__s__note' }, { type: 'none' }])(
      'K-07: says in its own words that the choice is $type, and nothing else is otherwise',
      async (toolChoice) => {
        const { path, body } = await sent({ ...full, toolChoice });
        const difference = choices[name]?.[toolChoice.type];
        const auto = requests[name];
        if (difference !== undefined) {
          expect({ path, body }).toEqual({ path: auto?.path, body: { ...(auto?.body as object), ...difference } });
          return;
        }
        // Without a word for none, the model is shown none, as where none are offered.
        expect([name, toolChoice.type]).toEqual(['bedrock', 'none']);
        endpoint.received.length = 0;
        const { path: samePath, body: sameBody } = await sent({ ...full, tools: [] });
        expect({ path, body }).toEqual({ path: samePath, body: sameBody });
      },
    );

    it('K-07: says nothing of a choice where no tools are offered', async () => {
      const { body } = await sent({ ...full, tools: [], toolChoice: { type: 'none' } });
      expect(JSON.stringify(body)).not.toMatch(/tool_?choice|functionCallingConfig/i);
    });

    it('sends no empty instructions', async () => {
      const { body } = await sent(requestOf({ instructions: '' }));
      expect(JSON.stringify(body)).not.toMatch(/"role":"system"|systemInstruction|"text":""/);
    });
  },
);
