import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest } from '@sluice/core';
import { chooseTools } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';
import { createModel } from '@sluice/model';
import { builtInTools } from '@sluice/packs';
import { askModel } from '../bench/descriptions/ask-model.js';
import { byMeaning, byWords, choose } from '../bench/descriptions/chooser.js';
import { costOf } from '../bench/descriptions/cost.js';
import { play } from '../bench/descriptions/job.js';
import type { Job } from '../bench/descriptions/job.js';
import { approachesOver, atFirst, mostShown, selectionCounts, sent } from '../bench/descriptions/sending.js';
import type { Approach, Closeness, Labelled } from '../bench/descriptions/sending.js';

const { questions, jobs } = JSON.parse(readFileSync('bench/descriptions/questions.json', 'utf8')) as {
  readonly questions: readonly Labelled[];
  readonly jobs: Readonly<Record<string, readonly string[]>>;
};
const tools = [...new Set(questions.map(({ tool }) => tool))];
const approaches = approachesOver(tools, true);
const called = (name: string): Approach => {
  const found = approaches.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const noMeanings = () => Promise.resolve(null);
const step = (tool: string): Labelled => questions.find((one) => one.tool === tool) as Labelled;
const job = (name: string, ...keys: string[]): Promise<Job> => play(called(name), keys.map(step), noMeanings);
const none: ReadonlySet<string> = new Set();
const length = (text: string): number => text.length;
const keysOf = async (name: string, question: string): Promise<readonly string[]> => {
  const approach = called(name);
  const { tools: those } = await sent(approach, atFirst(question), noMeanings);
  return those.map(({ id }) => approach.evaluator.byId(id)?.key ?? id);
};

describe('the questions that approaches are measured by', () => {
  it('are about built-in tools, in two languages, each with one in English', () => {
    const types = new Set(builtInTools.map(({ type }) => type));
    expect(questions.length).toBeGreaterThanOrEqual(40);
    expect(tools.filter((tool) => !types.has(tool))).toEqual([]);
    expect(new Set(questions.map(({ language }) => language))).toEqual(new Set(['en', 'de']));
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length);
    for (const tool of [...tools, ...Object.values(jobs).flat()]) expect(step(tool).language).toBe('en');
  });
});

describe('what an approach sends', () => {
  it('is every tool, and less of each where it is deferred', async () => {
    const full = costOf(await job('full', 'list_files'), length);
    const withSchemas = costOf(await job('deferred, full schema', 'list_files'), length);
    const minimal = costOf(await job('deferred', 'list_files'), length);
    expect(withSchemas.perRequest).toBeLessThan(full.perRequest);
    expect(minimal.perRequest).toBeLessThan(full.perRequest / 2);
    expect(await keysOf('deferred', '')).toHaveLength(tools.length);
  });

  it('is a few tools where a selection is made, with the search for the others, and no further service (D-47)', async () => {
    const shown = await keysOf('ranked', 'What time is it in New York?');
    expect(shown).toHaveLength(mostShown + 1);
    expect(shown).toContain('get_current_time');
    expect(shown).toContain('gateway_search_tools');
  });

  it.each(['relevance', 'ranked', 'hybrid'] as const)(
    'is chosen by %s as well, for any model (D-45)',
    async (strategy) => {
      const approach = { ...called('ranked'), strategy };
      const { tools: those } = await sent(approach, atFirst('What time is it in New York?'), noMeanings);
      expect(those).toHaveLength(mostShown + 1);
      expect(those.map(({ id }) => id)).toContain('core__get_current_time');
    },
  );

  it('has what is closest in meaning to the question, whatever its words (D-44)', async () => {
    const near: Closeness = async (those) => those.map(({ name }) => (name === 'core__list_sources' ? 1 : 0));
    const shown = async (closeness: Closeness) =>
      (await sent(called('hybrid'), atFirst('zzz'), closeness)).tools.map(({ id }) => id);
    expect(await shown(near)).toContain('core__list_sources');
    expect(await shown(noMeanings)).not.toContain('core__list_sources');
  });

  it('is bounded by a selection, however many tools there are (D-33)', () => {
    const all = Array.from({ length: 58 }, (_, at): OfferedTool => ({
      ...{ name: `tool_${at}`, description: 'Does one of many things. '.repeat(120), parameters: null },
    }));
    const asked = { query: 'tool_57', recentlyUsed: none, expanded: none, alwaysKeep: none };
    const lengths = [58, 20].map((count) => {
      const { kept } = chooseTools('ranked', all.slice(-count), asked, selectionCounts);
      return kept.reduce((sum, at) => sum + (all.slice(-count)[at]?.description.length ?? 0), 0);
    });
    expect(lengths).toEqual([mostShown * 3_000, mostShown * 3_000]);
  });

  it('keeps the reader of pages with a selection of deferred tools (D-82, XD-7)', async () => {
    expect(await keysOf('ranked, deferred, pages read', 'What time is it in New York?')).toContain('read_file');
  });
});

describe('a job', () => {
  it('takes a page once for each tool that is deferred', async () => {
    const { requests, extraCalls } = await job('deferred, pages read', 'get_progress', 'get_progress', 'list_files');
    expect(extraCalls).toBe(1);
    expect(requests).toHaveLength(4);
    expect(requests[0]?.left).toEqual([]);
    expect(requests.at(-1)?.left.join('')).toContain('**Returns:** `total`');
  });

  it('loads a group once, from which its tools are sent', async () => {
    const { requests, extraCalls } = await job('groups', 'cite_web', 'list_sources', 'read_file');
    expect(extraCalls).toBe(1);
    expect(requests[0]?.definitions.join('')).not.toContain('core__cite_web"');
    expect(requests[1]?.definitions.join('')).toContain('core__cite_web"');
  });

  it('searches again where a selection left the tool out, and has it from then on (D-46)', async () => {
    const odd = { language: 'en', question: 'zzz', tool: 'write_requirement_to_cache' };
    const { requests, extraCalls } = await play(called('ranked'), [odd, odd], noMeanings);
    expect(extraCalls).toBe(1);
    expect(requests[0]?.definitions.join('')).not.toContain('core__write_requirement_to_cache"');
    expect(requests[2]?.definitions.join('')).toContain('core__write_requirement_to_cache"');
  });

  it('leaves what a provider found in the conversation, in the same request', async () => {
    const { requests, extraCalls } = await job('provider search', 'cite_web', 'cite_web');
    expect(extraCalls).toBe(0);
    expect(requests[1]?.left).toHaveLength(1);
  });
});

describe('what a job costs', () => {
  const one = { definitions: ['aaaa', 'bb'], left: [] };

  it('counts the beginning that a request has in common with the one before as cached', () => {
    const {
      cacheable,
      job: all,
      perRequest,
    } = costOf(
      { requests: [one, { ...one, left: ['cc'] }, { definitions: ['aaaa', 'x'], left: ['cc'] }], extraCalls: 0 },
      length,
    );
    expect(all).toBe(6 + 8 + 7);
    expect(perRequest).toBeCloseTo((6 + 6 + 5) / 3);
    expect(cacheable).toBeCloseTo((6 + 4) / 21);
  });

  it('saves money by a cache, and no tokens (D-50)', () => {
    const { job: all, priced } = costOf({ requests: [one, one], extraCalls: 0 }, length);
    expect(all).toBe(12);
    expect(priced).toBeCloseTo(6 * 1.25 + 6 * 0.1);
  });
});

describe('choosing by what is sent', () => {
  it('finds a tool by the words of its texts, and none where nothing suits', async () => {
    const given = { ranking: byWords, closeness: noMeanings };
    expect(await choose(called('full'), 'What percentage of the tasks is finished?', given)).toEqual({
      tool: 'get_progress',
      extraCalls: 0,
    });
    expect((await choose(called('full'), 'zzz', given)).tool).toBeNull();
  });

  it('loads the group whose line suits best, and reads pages of what is deferred', async () => {
    const given = { ranking: byWords, closeness: noMeanings };
    expect(await choose(called('groups'), 'search the web', given)).toEqual({ tool: 'web_search', extraCalls: 1 });
    const { tool, extraCalls } = await choose(called('deferred, pages read'), 'split a document into chunks', given);
    expect(tool).toBe('chunk_document');
    expect(extraCalls).toBeGreaterThan(0);
  });

  it('goes by meanings where something knows them', async () => {
    const ranking = byMeaning(async (those) => those.map(({ name }) => (name.endsWith('get_progress') ? 1 : 0)));
    expect((await choose(called('full'), 'zzz', { ranking, closeness: noMeanings })).tool).toBe('get_progress');
  });
});

describe('asking a model', () => {
  const scripted = (...calls: readonly (readonly [tool: string, args: object])[]) => {
    const requests: ModelRequest[] = [];
    const model: Model = {
      name: 'scripted',
      turn: async (request) => {
        requests.push(request);
        const call = calls[requests.length - 1];
        const [tool = '', args = {}] = call ?? [];
        const own = { toolCallId: `c${requests.length}`, tool, arguments: JSON.stringify(args) };
        const answer = call === undefined ? 'done' : null;
        return { thought: '', calls: call === undefined ? [] : [own], answer, inputTokens: 0, outputTokens: 0 };
      },
    };
    return { model, requests };
  };

  it('answers pages, and counts them', async () => {
    const { model, requests } = scripted(
      ['core__read_file', { path: 'tools/get_progress.md' }],
      ['core__get_progress', {}],
    );
    const chosen = await askModel(model, called('deferred, pages read'), 'How far are we?', noMeanings);
    expect(chosen).toEqual({ tool: 'get_progress', extraCalls: 1 });
    expect(requests[0]?.instructions).toContain('read its documentation');
    expect(requests[1]?.history[0]?.observation).toContain('**Category:** todo');
  });

  it('takes reading another file for the choice', async () => {
    const { model } = scripted(['core__read_file', { path: 'notes/plan.md' }]);
    expect(await askModel(model, called('full'), 'Read it.', noMeanings)).toEqual({ tool: 'read_file', extraCalls: 0 });
  });

  it('loads groups and searches', async () => {
    const loading = scripted(['core__load_toolset', { group: 'citation' }], ['core__cite_web', {}]);
    expect((await askModel(loading.model, called('groups'), 'Cite it.', noMeanings)).tool).toBe('cite_web');
    expect(loading.requests[1]?.tools.map(({ id }) => id)).toContain('core__cite_web');
    const searching = scripted(
      ['gateway_search_tools', { query: 'requirement_to_cache' }],
      ['core__write_requirement_to_cache', {}],
    );
    expect((await askModel(searching.model, called('ranked'), 'zzz', noMeanings)).extraCalls).toBe(1);
    expect(searching.requests[1]?.tools.map(({ id }) => id)).toContain('core__write_requirement_to_cache');
  });

  it('works with a plain API of OpenAI’s form, which gets short texts and open schemas and no mark of a provider (D-80)', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        bodies.push(body);
        const call = {
          index: 0,
          id: 'c1',
          type: 'function',
          function: { name: 'core__get_progress', arguments: '{}' },
        };
        const chunk = { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'gpt-oss-120b' };
        const choices = [{ index: 0, delta: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' }];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const settings = { name: 'gpt-oss-120b', apiKeyEnv: null, region: null, maxOutputTokens: 100 };
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const model = await createModel(
        { provider: 'openai-compatible', baseUrl, ...settings },
        { secret: () => undefined },
      );
      const chosen = await askModel(model, called('deferred'), 'How far are we?', noMeanings);
      expect(chosen.tool).toBe('get_progress');
    } finally {
      server.close();
    }
    const { tools: those } = JSON.parse(bodies[0] ?? '{}') as { readonly tools: readonly { function: object }[] };
    const own = those.find(({ function: one }) => JSON.stringify(one).includes('core__get_progress'));
    expect(own?.function).toMatchObject({ parameters: { type: 'object', properties: {} } });
    expect(bodies[0]).not.toContain('defer_loading');
  });

  it('gives none where the model answers without a call', async () => {
    expect((await askModel(scripted().model, called('full'), 'Hello', noMeanings)).tool).toBeNull();
  });
});
