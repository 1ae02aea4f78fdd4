import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ProxySettings } from '@sluice/core';
import { endpointOf, plainTarget, targetsOf } from '@sluice/proxy';

const post = (target: string): string | null => plainTarget('POST', target);

describe('the path of a request to the proxy', () => {
  it.each([
    ['/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/models/meta-llama%2FLlama-3?x=%2e%2e/', '/v1/models/meta-llama%2FLlama-3?x=%2e%2e/'],
    ['/v1/models/', '/v1/models/'],
    ['/', '/'],
    [
      '/v1beta/models/gemini-2.5-flash:generateContent?alt=sse',
      '/v1beta/models/gemini-2.5-flash:generateContent?alt=sse',
    ],
    [
      '/model/arn%3Aaws%3Abedrock%3Aeu%3A1%3Ainference-profile%2Fus.x/converse',
      '/model/arn%3Aaws%3Abedrock%3Aeu%3A1%3Ainference-profile%2Fus.x/converse',
    ],
    ['//v1/messages', '/v1/messages'],
    ['/v1//chat///completions', '/v1/chat/completions'],
    ['/v1/chat/../files', '/v1/files'],
    ['/v1/chat/%2e%2E/files', '/v1/files'],
    ['/v1/chat/.%2e/./files', '/v1/files'],
    ['/v1/chat\\..\\files', '/v1/files'],
    ['/../../v1/files', '/v1/files'],
    ['/v1/%63hat/%63ompletions', '/v1/chat/completions'],
  ])('%s is matched and sent as %s', (target, plain) => {
    expect(post(target)).toBe(plain);
  });

  it.each([
    ['/v1/chat%2F..%2Ffiles'],
    ['/v1/chat/..%2Ffiles'],
    ['/v1/chat/..%5cfiles'],
    ['/v1/chat/%252e%252e/files'],
    ['/v1/chat/%25252e%25252e%25252ffiles'],
    ['/v1/chat/..;/files'],
    ['/model/x%2F..%2F..%2Ffiles/converse'],
    ['/v1/chat%2Fcompletions'],
    ['/v1%5cmessages'],
    ['/v1/%2563hat/completions%2f'],
    ['/v1/chat#/../files'],
    ['/v1/%zz'],
    ['http://elsewhere.test/v1/files'],
    ['*'],
    [`/v1/${'%25'.repeat(2)}2525252e`],
  ])('%s is refused, since servers may read it in more than one way', (target) => {
    expect(post(target)).toBeNull();
  });

  it('is plain once it is plain, and never leads out of what was allowed', () => {
    const piece = fc.constantFrom(
      ...[
        '/',
        '//',
        '\\',
        '..',
        '.',
        '%2e',
        '%2F',
        '%5C',
        '%252e',
        ';a',
        'v1',
        'chat',
        'files',
        'completions',
        'model',
        '%',
        '?',
        '#',
      ],
    );
    const allowed = upstreams(['/v1/chat/']);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const plain = post(`/${pieces.join('')}`);
        if (plain === null) return;
        expect(post(plain)).toBe(plain);
        if (targetsOf(allowed, { api: 'openai', path: plain, model: null }).length === 0) return;
        const read = new URL(decodeURIComponent(plain.split('?')[0] ?? ''), 'http://upstream.test');
        expect(read.pathname.startsWith('/v1/chat/')).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['/v1/chat/completions/', '/V1/Chat/Completions', '/v1/responses/', '/v1/messages/', '/model/m/Converse/'])(
    'is that of a model however a server takes case and a slash at its end: %s',
    (target) => {
      expect(endpointOf('POST', target)).not.toBeNull();
    },
  );

  it('is held against the list of an upstream that a model names, too', () => {
    const settings = {
      ...upstreams(['/v1/chat']),
      models: [{ name: 'm', upstream: 'main', model: null, fallback: [] }],
    };
    const to = (path: string): number => targetsOf(settings as never, { api: 'openai', path, model: 'm' }).length;
    expect([to('/v1/chat/completions'), to('/v1/responses')]).toEqual([1, 0]);
  });
});

function upstreams(paths: readonly string[]): ProxySettings {
  return { models: [], upstreams: [{ id: 'main', api: 'openai', models: [], paths }] } as unknown as ProxySettings;
}
