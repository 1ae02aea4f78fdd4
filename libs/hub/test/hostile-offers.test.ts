import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { ToolInputError } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { jsonSchemaInput, jsonSchemaOutput } from '@sluice/tools';
import { sha256 } from '../../sources/test/configured.js';
import { callHostile, closeHubs, offeredBy, openHostile } from './hostile-hub.js';

const noFiles = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
afterEach(closeHubs);

/** Whoever fetches a remote $ref comes here. */
let fetched = 0;
const elsewhere = createServer((_, response) => {
  fetched++;
  response.end('{}');
});
let elsewhereUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as { port: number }).port}/schema`;
});
afterAll(() => void elsewhere.close());
describe('what a hostile server offers', () => {
  it.each([
    ['100,000 tools in pages', 'thousands', { endless: expect.stringMatching(/more than 1000 tools/) }, 1_000],
    ['100,000 tools at once', 'thousands-at-once', { endless: expect.stringMatching(/more than 1000 tools/) }, 1_000],
    ['no list at all', 'malformed-list', { error: expect.stringMatching(/could not be asked/) }, undefined],
  ])('%s: cut or refused with its reason, in bounded time, and the others are there', async (_, fault, said, most) => {
    const { hub } = openHostile(fault, { elsewhere: elsewhereUrl });
    const started = performance.now();
    const [hostile, well] = await hub.discover();
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(hostile).toMatchObject(said);
    expect(hostile !== undefined && 'tools' in hostile ? hostile.tools.length : undefined).toBe(most);
    expect(well).toHaveProperty('tools');
  });

  it.each([
    ['pages that go round', 'pages-that-go-round', ['work-1', 'work-2'], /the same cursor .* again/],
    ['a cursor that never moves', 'same-page', ['one', 'two'], /the same cursor .* again/],
    ['pages without an end', 'pages-without-end', [], /more than 1000 pages/],
  ])('%s: what was read of them, with a line that says so', async (_, fault, names, endless) => {
    // A thousand pages take seconds where other suites have the processors.
    const { hub, logged } = openHostile(fault, { startMs: 60_000, elsewhere: elsewhereUrl });
    const [hostile] = await hub.discover();
    expect(hostile).toMatchObject({ endless: expect.stringMatching(endless) });
    expect(hostile !== undefined && 'tools' in hostile && hostile.tools.map(({ name }) => name)).toEqual(names);
    expect(logged).toEqual([expect.stringMatching(endless)]);
  });

  it('names and texts of every kind: two of one name are both there, none is lost, none steers a terminal', async () => {
    const tools = await offeredBy(openHostile('names', { elsewhere: elsewhereUrl }).hub);
    expect(tools.map(({ name }) => name.slice(0, 12))).toEqual(
      ['work', 'twice', 'twice', 'bell\u0007\u001b[31m'.slice(0, 12), 'xxxxxxxxxxxx', 'long-words', ''],
    ); // prettier-ignore
    const bindings = {
      work: 'work',
      twice: 'twice',
      bell: 'bell\u0007\u001b[31m',
      long: 'x'.repeat(10_000),
      words: 'long-words',
    };
    const file = {
      tool: Object.fromEntries(Object.keys(bindings).map((name) => [name, { type: 'mcp-tool' }])),
      policy: { allowed_tools: Object.keys(bindings) },
      mcp: {
        servers: { hostile: { command: 'node' } },
        tools: Object.fromEntries(
          Object.entries(bindings).map(([id, tool]) => [id, { server: 'hostile', tool, redaction: 'whole' }]),
        ),
      },
    };
    const { configuration, problems, findings } = compileConfiguration(file, {
      types: [],
      offers: [{ server: 'hostile', tools }],
      digest: sha256,
      files: noFiles,
    });
    expect(problems).toEqual([]);
    expect(configuration?.tools.map(({ id, spec }) => [id.slice(0, 30), spec !== null])).toEqual([
      ['mcp__hostile__work', true],
      ['mcp__hostile__twice', false],
      ['mcp__hostile__bell___31m', true],
      ['mcp__hostile__xxxxxxxxxxxxxxxx', false],
      ['mcp__hostile__long-words', false],
    ]);
    const said = findings.map(({ message }) => message).join('\n');
    expect(said).toMatch(/offers 2 tools named "twice"/);
    expect(said).toMatch(/64 is the most that models take/);
    expect(said).toMatch(/description has 20000 characters/);
    // eslint-disable-next-line no-control-regex -- that is what is looked for
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it('what it says of itself beside its tools is there to be looked at', async () => {
    const command = { command: process.execPath, args: [join(import.meta.dirname, 'mcp-servers/counting.mjs')] };
    const server = { id: 'counting', ...command, env: [], url: null, startMs: 5_000 };
    const hub = createMcpHub([server], { environment: () => ({}), onChange: () => undefined });
    const [offer] = await hub.discover();
    await hub.close();
    expect(offer).toMatchObject({
      texts: [
        { of: 'the text of its instructions', text: 'Look around.' },
        { of: 'the description of its prompt "review"', text: 'Rev\u200Biew it.' },
      ],
    });
  });

  it('schemas of every kind: each bad one is withheld with its reason, and none fetches anything (T-10d, T-26b3)', async () => {
    const tools = await offeredBy(openHostile('schemas', { elsewhere: elsewhereUrl }).hub);
    const names = tools.map(({ name }) => name);
    const { configuration } = compileConfiguration(
      {
        tool: Object.fromEntries(names.map((name) => [name, { type: 'mcp-tool' }])),
        policy: { allowed_tools: names },
        mcp: {
          servers: { hostile: { command: 'node' } },
          tools: Object.fromEntries(names.map((tool) => [tool, { server: 'hostile', tool, redaction: 'whole' }])),
        },
      },
      { types: [], offers: [{ server: 'hostile', tools }], digest: sha256, files: noFiles },
    );
    const reasons = Object.fromEntries((configuration?.tools ?? []).map((tool) => [tool.key, tool.unavailable]));
    expect(reasons).toEqual({
      'no-schema': null,
      'not-an-object': expect.stringMatching(/must have `"type": "object"`/),
      'huge-schema': expect.stringMatching(/more than 65536 bytes/),
      'deep-schema': expect.stringMatching(/deeper than 64 levels/),
      'local-ref': expect.stringMatching(/uses `\$ref` at \/properties\/a for "#", which it is a part of/),
      'remote-ref': expect.stringMatching(/uses `\$ref` at \/properties\/a for another document/),
      'bad-type': expect.stringMatching(/the type "no such type" at \/properties\/a\/type/),
      'bad-pattern': expect.stringMatching(/no regular expression of ECMAScript at \/properties\/a\/pattern/),
      backtracking: null,
      prototype: null,
      'long-enum': null,
    });

    const check = (name: string, args: JsonValue): JsonValue =>
      jsonSchemaInput(tools.find((tool) => tool.name === name)?.inputSchema as JsonObject)(args);
    for (const name of ['bad-type', 'bad-pattern', 'remote-ref', 'local-ref'])
      expect(() => check(name, name === 'local-ref' ? { a: 7 } : {})).toThrow(ToolInputError);
    expect(fetched).toBe(0);

    // An honest text fits; thirty that would each take an hour are given up together.
    expect(check('backtracking', { a: ['aaaa'] })).toEqual({ a: ['aaaa'] });
    const started = performance.now();
    expect(() => check('backtracking', { a: Array.from({ length: 30 }, () => `${'a'.repeat(60)}!`) })).toThrow(
      ToolInputError,
    );
    expect(performance.now() - started).toBeLessThan(1_000);

    check('prototype', {});
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();

    const long = (() => {
      try {
        check('long-enum', { a: Array.from({ length: 4_000 }, () => 1) });
      } catch (error) {
        return error as ToolInputError;
      }
      return undefined;
    })();
    expect(long?.problems).toHaveLength(21);
    expect(long?.message.length).toBeLessThan(20_000);
  });

  it('structured results that break their own promise are refused; remote promises are not fetched (M-103)', async () => {
    const { hub } = openHostile('outputs', { elsewhere: elsewhereUrl });
    const schemaOf = Object.fromEntries((await offeredBy(hub)).map(({ name, outputSchema }) => [name, outputSchema]));
    const judged = async (tool: string): Promise<JsonValue> =>
      jsonSchemaOutput(schemaOf[tool] as JsonObject)(await callHostile(hub, tool));
    expect(await judged('keeps')).toEqual({ n: 7 });
    await expect(judged('lies')).rejects.toThrow(/does not fit/);
    await expect(judged('recurses')).rejects.toThrow(/does not fit/);
    expect(() => jsonSchemaOutput(schemaOf['fetches'] as JsonObject)({})).toThrow();
    expect(fetched).toBe(0);
  });
});
