import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { choosingStrategies } from '@sluice/core';
import { chooseTools, keepCount, readTools, searchToolOf } from '@sluice/discovery';
import { TokenCounter } from '@sluice/tokens';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

const list = JSON.parse(readFileSync('examples/discovery/tools.json', 'utf8')) as unknown;
const tools = readTools(list);
const counts = { minTools: 5, maxTools: 10, targetRatio: 0.8 };
const asked = (query: string) => ({
  ...{ query, recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() },
});

describe('tokens of tools', () => {
  const counter = new TokenCounter();

  it('are counted by the tokenizer of the model, and approximated for models that have another', async () => {
    expect(await counter.count(['hello world', 'hello world'], 'gpt-5-mini')).toEqual({
      tokens: 4,
      tokenizer: 'o200k',
    });
    expect(await counter.count(['hello world'], 'gpt-4-turbo')).toEqual({ tokens: 2, tokenizer: 'cl100k' });
    expect(await counter.count(['hello world'], 'claude-sonnet-5')).toEqual({ tokens: 2, tokenizer: '~o200k' });
  });

  it('are fewer with each strategy, of a list of sixty (DS-02)', async () => {
    const texts = tools.map((tool) => JSON.stringify(tool));
    const { tokens: all } = await counter.count(texts, 'gpt-5');
    for (const strategy of choosingStrategies) {
      const { kept } = chooseTools(strategy, tools, asked('Why did the last build fail?'), counts);
      const { tokens } = await counter.count(
        kept.map((at) => texts[at] ?? ''),
        'gpt-5',
      );
      expect(tokens).toBeLessThan(all / 3);
    }
    const searchTool = JSON.stringify(searchToolOf('gateway_search_tools'));
    expect((await counter.count([searchTool], 'gpt-5')).tokens).toBeLessThan(all / 10);
  });

  it('depend on the question alone, and so does the number of tools (DS-128)', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...choosingStrategies), (query, strategy) => {
        const [one, other] = [0, 1].map(() => chooseTools(strategy, structuredClone(tools), asked(query), counts));
        expect(other).toEqual(one);
        expect(one?.kept).toHaveLength(keepCount(tools.length, counts));
      }),
    );
  });

  it('take no time by the square of a text without a break, and count the text of special tokens as any other', async () => {
    const started = performance.now();
    const { tokens } = await counter.count(['a'.repeat(200_000)], 'gpt-5');
    expect(tokens).toBeGreaterThan(10_000);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect((await counter.count(['<|endoftext|>'], 'gpt-5')).tokens).toBeGreaterThan(1);
  });

  it('are the same where a thread counts them, whatever the breaks of a text, and when it is asked again', async () => {
    const threaded = new TokenCounter({ inThread: true });
    const runs = fc.sample(fc.array(fc.constantFrom('a'.repeat(127), 'b', ' ', '\u00a0', 'ü'.repeat(128), '\n')), 50);
    const texts = [...tools.map((tool) => JSON.stringify(tool)), ...runs.map((parts) => parts.join(''))];
    for (const model of ['gpt-5', 'gpt-4-turbo']) {
      const expected = await counter.count(texts, model);
      expect(await Promise.all([threaded.count(texts, model), threaded.count(texts, model)])).toEqual([
        expected,
        expected,
      ]);
      expect(await threaded.count(texts, model)).toEqual(expected);
    }
    // As a text is cut behind each run of 128 characters without a blank.
    const cut = (text: string): string => text.replace(/[^\s]{128}/g, '$& ');
    for (const text of texts) expect((await counter.count([text], 'gpt-5')).tokens).toBe(countTokens(cut(text)));
  });

  it('of a list are those of each definition, counted once while the list lives', async () => {
    const threaded = new TokenCounter({ inThread: true });
    const own = tools.map((tool) => ({ raw: JSON.stringify(tool) }));
    const expected = await Promise.all(own.map(async ({ raw }) => (await counter.count([raw], 'gpt-5')).tokens));
    for (const one of [counter, threaded]) {
      const counted = await Promise.all([one.countEach(own, 'gpt-5'), one.countEach(own, 'gpt-5')]);
      for (const { counts, tokens, tokenizer } of counted) {
        expect([...Array.from(counts), tokens, tokenizer]).toEqual([
          ...expected,
          expected.reduce((sum, count) => sum + count, 0),
          'o200k',
        ]);
      }
      expect((await one.countEach(own.slice(3), 'claude-sonnet-5')).tokenizer).toBe('~o200k');
      expect(await one.countEach([], 'gpt-5')).toEqual({ counts: new Uint32Array(), tokens: 0, tokenizer: 'o200k' });
    }
    const long = [{ raw: 'x'.repeat(4_000_001) }, { raw: 'ab' }];
    expect(await threaded.countEach(long, 'gpt-5')).toEqual({
      counts: [1_000_001, 1],
      tokens: 1_000_001,
      tokenizer: '~length',
    });
  });

  it('fail where the thread is ended meanwhile, and are counted by another one afterwards', async () => {
    const threaded = new TokenCounter({ inThread: true });
    await threaded.close();
    const counting = threaded.count(['a text'], 'gpt-5');
    await Promise.all([expect(counting).rejects.toThrow('The thread that counts tokens has ended.'), threaded.close()]);
    expect(await threaded.count(['a text'], 'gpt-5')).toEqual(await counter.count(['a text'], 'gpt-5'));
    await threaded.close();
  });

  it('are a quarter of the characters of what is too long to be counted', async () => {
    expect(await counter.count(['x'.repeat(4_000_004)], 'gpt-5')).toEqual({ tokens: 1_000_001, tokenizer: '~length' });
  });
});
