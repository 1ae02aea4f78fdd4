import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ToolUserError } from '@sluice/core';
import type { HttpOperation, HttpParameter, JsonObject, JsonValue, McpServer, ParameterStyle } from '@sluice/core';
import { requestFor } from '@sluice/openapi';
import { withCredential } from '../src/credential.js';

const base = 'https://api.example.com/v1';
const list = ['blue', 'black'];
const map = { R: 100, G: 200 };

const parameter = (place: HttpParameter['in'], style: ParameterStyle | 'json', explode: boolean): HttpParameter => ({
  ...{ name: 'color', in: place, style, explode },
});
const operation = (parameters: readonly HttpParameter[], more: Partial<HttpOperation> = {}): HttpOperation => ({
  ...{ method: 'GET', path: '/paint', parameters, ...more },
});
const sent = (one: HttpOperation, args: JsonObject) => {
  const { url, headers, body } = requestFor(one, base, args);
  return { href: url.href, headers: Object.fromEntries(headers), body };
};

describe('a credential in the query', () => {
  it('goes before no other parameter, which stay as their style wrote them', () => {
    const at = {
      id: 's',
      openapi: { document: 'x', credential: { in: 'query', name: 'key' } },
    } as unknown as McpServer;
    const plain = requestFor(operation([parameter('query', 'deepObject', true)]), base, { color: { R: 'a b' } });
    const { url } = withCredential({ ...plain, url: new URL(`${plain.url.href}&key=old`) }, at, 's&cret');
    expect(url.search).toBe('?color[R]=a%20b&key=s%26cret');
  });
});

describe('a value in a query', () => {
  // The table of styles in the OpenAPI specification.
  it.each<[ParameterStyle | 'json', boolean, JsonValue, string]>([
    ['form', true, 'blue', 'color=blue'],
    ['form', true, '', 'color='],
    ['form', true, list, 'color=blue&color=black'],
    ['form', false, list, 'color=blue%2Cblack'],
    ['form', true, map, 'R=100&G=200'],
    ['form', false, map, 'color=R%2C100%2CG%2C200'],
    ['spaceDelimited', false, list, 'color=blue%20black'],
    ['pipeDelimited', false, list, 'color=blue%7Cblack'],
    ['deepObject', true, map, 'color[R]=100&color[G]=200'],
    ['deepObject', true, { a: { b: ['x'] } }, 'color[a][b][0]=x'],
    ['json', false, map, 'color=%7B%22R%22%3A100%2C%22G%22%3A200%7D'],
  ])('in the style %s, explode %s: %j is %s', (style, explode, value, query) => {
    expect(sent(operation([parameter('query', style, explode)]), { color: value }).href).toBe(`${base}/paint?${query}`);
  });

  it('comes back as it was from a server that reads the style', () => {
    const texts = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());
    fc.assert(
      fc.property(texts, fc.array(texts, { minLength: 1 }), (one, many) => {
        const both = operation([
          { ...parameter('query', 'form', true), name: 'one' },
          parameter('query', 'form', true),
        ]);
        const { searchParams } = requestFor(both, base, { one, color: many }).url;
        expect([searchParams.get('one'), searchParams.getAll('color')]).toEqual([one, many]);
      }),
    );
  });
});

describe('a value in the path', () => {
  const at = (style: ParameterStyle, explode: boolean) =>
    operation([parameter('path', style, explode)], { path: '/paint/{color}/x' });

  it.each<[ParameterStyle, boolean, JsonValue, string]>([
    ['simple', false, 'a/b c', 'a%2Fb%20c'],
    ['simple', false, list, 'blue,black'],
    ['simple', true, map, 'R=100,G=200'],
    ['simple', false, map, 'R,100,G,200'],
    ['label', false, 'blue', '.blue'],
    ['label', true, list, '.blue.black'],
    ['matrix', false, 'blue', ';color=blue'],
    ['matrix', true, list, ';color=blue;color=black'],
    ['matrix', false, list, ';color=blue,black'],
  ])('in the style %s, explode %s: %j is %s', (style, explode, value, path) => {
    expect(sent(at(style, explode), { color: value }).href).toBe(`${base}/paint/${path}/x`);
  });

  it('is one segment: no text leads to another path, host or query', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('..', '.', '%2e%2e', '../..', '//x', '?a#b', '\\')),
        (text) => {
          let url: URL;
          try {
            ({ url } = requestFor(at('simple', false), base, { color: text.toWellFormed() }));
          } catch (error) {
            return void expect(error).toBeInstanceOf(ToolUserError);
          }
          const [, , paint, segment = '', x, ...more] = url.pathname.split('/');
          expect([url.origin, paint, x, more, url.search, url.hash]).toEqual([
            'https://api.example.com',
            'paint',
            'x',
            [],
            '',
            '',
          ]);
          expect(decodeURIComponent(segment)).toBe(text.toWellFormed());
        },
      ),
    );
  });

  it.each(['', '.', '..'])('is refused where it is %j', (text) => {
    expect(() => requestFor(at('simple', false), base, { color: text })).toThrow(ToolUserError);
  });
});

describe('headers and cookies', () => {
  it('hold values, and never a line break', () => {
    const both = operation([
      { name: 'X-Tags', in: 'header', argument: 'tags', style: 'simple', explode: false },
      parameter('cookie', 'form', true),
    ]);
    expect(sent(both, { tags: list, color: 'a;b' }).headers).toMatchObject({
      'X-Tags': 'blue,black',
      cookie: 'color=a%3Bb',
    });
    for (const text of ['a\r\nX-Evil: 1', 'a\nb', 'ж'])
      expect(() => requestFor(both, base, { tags: text })).toThrow(ToolUserError);
  });
});

describe('a body', () => {
  const post = (encoding: 'json' | 'form' | 'multipart' | 'text', more: object = {}) =>
    operation([], { method: 'POST', body: { encoding, contentType: `x/${encoding}`, argument: 'body', ...more } });

  it('is JSON as it was given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(String(sent(post('json'), { body: value as JsonValue }).body))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
    expect(sent(post('json'), {})).toMatchObject({ body: null });
  });

  it('is a form: lists by name, objects by member, each as its style says', () => {
    const form = post('form', {
      styles: { comma: { style: 'form', explode: false }, raw: { style: 'json', explode: false } },
    });
    const body = { a: 'x y', list: [1, 2], map: { k: { deep: true } }, comma: [1, 2], raw: { q: 1 }, none: null };
    expect([...new URLSearchParams(String(sent(form, { body }).body))]).toEqual([
      ...[
        ['a', 'x y'],
        ['list', '1'],
        ['list', '2'],
        ['map[k][deep]', 'true'],
        ['comma', '1,2'],
        ['raw', '{"q":1}'],
      ],
    ]);
  });

  it('is multipart, which a server reads back', async () => {
    const { headers, body } = sent(post('multipart', { files: ['file'] }), {
      body: { name: 'Ann "x"\r\n', file: 'a,b\n1,2', tags: ['p', 'q'], meta: { a: 1 } },
    });
    const form = await new Response(String(body), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    }).formData();
    expect([form.get('name'), form.getAll('tags')]).toEqual(['Ann "x"\r\n', ['p', 'q']]);
    const [file, meta] = [form.get('file'), form.get('meta')];
    expect([file instanceof File && (await file.text()), meta]).toEqual(['a,b\n1,2', '{"a":1}']);
  });
});
