import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GivenContent, ModelOptions, ModelRequest, StepContent } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { send, startEndpoint, type Endpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import { offered } from './wires/past.js';

const named = (letter: string, more: Partial<StepContent> = {}): StepContent => ({
  ...{ hash: letter.repeat(64), type: 'image/png', size: 7, kind: 'image', name: null },
  ...more,
});
const [ofQuestion, first, later] = [named('a', { kind: 'file', name: 'plan.png' }), named('b'), named('c')];
const [text, gone, unread] = [named('d', { type: 'text/csv', name: 'x.csv' }), named('e'), named('f', { size: 9 })];
const request: ModelRequest = requestOf({
  question: 'Who?',
  content: [ofQuestion],
  tools: offered,
  history: [
    stepOf({
      toolId: 'core__find',
      toolCallId: 'one',
      iteration: 1,
      observation: 'seen',
      content: [first, text, gone],
    }),
    stepOf({
      ...{ toolId: 'core__find', toolCallId: 'two', iteration: 2, content: [first, later, unread] },
      observation: '[{"type":"image","mimeType":"image/png","bytes":9}]',
    }),
  ],
});
const media = (data: string): GivenContent => ({ kind: 'media', mediaType: 'image/png', data });
const given = new Map<string, GivenContent>([
  [ofQuestion.hash, media('UVVFU1RJT04=')],
  [first.hash, media('RklSU1Q=')],
  [later.hash, media('TEFURVI=')],
  [text.hash, { kind: 'text', text: 'a;b', note: 'the first 3 of 9 characters' }],
  [gone.hash, { kind: 'note', note: 'content gone: it is no longer kept' }],
  [unread.hash, { kind: 'note', note: 'not shown: this model reads no images', isUnread: true }],
]);

describe.each(Object.entries({ openai, openaiResponses, anthropic, google, bedrock }))(
  'content over the %s wire',
  (_, wire) => {
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

    async function sent(asked: ModelRequest, more: Partial<ModelOptions>): Promise<string> {
      const model = await createModel(
        { baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256, ...wire.settings },
        { secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key') },
      );
      await model.turn(asked, { signal: new AbortController().signal, ...more });
      return JSON.stringify(endpoint.received[0]?.body);
    }
    const inOrder = (body: string, parts: readonly string[]): void => {
      const places = parts.map((part) => body.indexOf(part));
      expect(places.every((place) => place >= 0)).toBe(true);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    };

    it.each([
      ['with tools', request],
      ['without tools, where the history is text', { ...request, tools: [] }],
    ])('stands where it is named first, and a line says what is not given: %s', async (_with, asked) => {
      const body = await sent(asked, { given });
      inOrder(body, ['Who?', '[plan.png: file, image/png, 7 bytes]', 'UVVFU1RJT04=', 'seen', 'RklSU1Q=', 'TEFURVI=']);
      inOrder(body, [
        ...['seen', '[x.csv: image, text/csv, 7 bytes; the first 3 of 9 characters]', 'a;b'],
        ...['[image, image/png, 7 bytes; content gone: it is no longer kept]'],
        ...['[image, image/png, 7 bytes; it stands above]', 'TEFURVI='],
      ]);
      for (const data of ['UVVFU1RJT04=', 'RklSU1Q=', 'TEFURVI=']) expect(body.split(data)).toHaveLength(2);
      // The result says it already.
      expect(body).not.toContain('reads no images');
    });

    it('is named by a line with the question where none of it is given', async () => {
      const body = await sent(request, {});
      expect(body).toContain('[plan.png: file, image/png, 7 bytes]');
      expect(body).not.toMatch(/inlineData|"image"|image_url|input_image/);
    });
  },
);
