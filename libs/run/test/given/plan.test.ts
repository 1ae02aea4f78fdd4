import { describe, expect, it } from '@jest/globals';
import type { ModelSettings, StepContent } from '@sluice/core';
import { contentTokens, planContent } from '@sluice/run';
import { stepOf } from '../../../model/test/requests.js';

const settings = (provider: ModelSettings['provider'], name: string): ModelSettings => ({
  ...{ provider, name, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
});
const claude = settings('anthropic', 'claude-sonnet-4-5');
let count = 0;
const piece = (type: string, size: number, kind = 'image'): StepContent => ({
  hash: (count++).toString(16).padStart(64, '0'),
  ...{ type, size, kind, name: null },
});
const stepWith = (content: readonly StepContent[]) => stepOf({ toolId: 't', content: [...content] });
const planned = (content: readonly StepContent[], of = claude) =>
  [...planContent({ history: content.map((one) => stepWith([one])) }, of).values()].map((one) =>
    one.kind === 'note' ? one.note.split(/[:.] /)[0] : one.kind,
  );

describe('what a model is given of content', () => {
  it.each<readonly [StepContent, ModelSettings, string]>([
    [piece('image/png', 1), claude, 'media'],
    [piece('image/png', 1, 'resource'), claude, 'media'],
    [piece('image/png', 3_750_001), claude, 'not shown'],
    [piece('image/png', 1), settings('openai-compatible', 'mine'), 'not shown'],
    [piece('image/png', 1), { ...settings('openai-compatible', 'mine'), inputs: ['image'] }, 'media'],
    [piece('audio/wav', 1, 'audio'), claude, 'not shown'],
    [piece('application/pdf', 4_600_000, 'resource'), settings('bedrock', 'anthropic.claude-opus-4'), 'text'],
    [piece('application/pdf', 1, 'resource'), claude, 'media'],
    [piece('application/pdf', 5_000_000, 'resource'), claude, 'text'],
    [piece('Application/PDF; a=b', 1, 'resource'), settings('rules', ''), 'text'],
    [piece('text/csv', 1, 'resource'), claude, 'text'],
  ])('%j', (content, of, expected) => expect(planned([content], of)).toEqual([expected]));

  it('is nothing for the answer itself and for a long result, which the step has', () => {
    expect(planned([piece('application/json', 9, 'result'), piece('text/plain', 9, 'value')])).toEqual([]);
  });

  it('is the newest of results; half of the room is made at once, so that the beginning changes seldom', () => {
    const pieces = Array.from({ length: 30 }, () => piece('image/png', 10));
    const firstGiven = pieces.map((_, at) => planned(pieces.slice(0, at + 1)).indexOf('media'));
    expect(firstGiven.slice(0, 10)).toEqual(Array(10).fill(0));
    expect(new Set(firstGiven)).toEqual(new Set([0, 6, 12, 18, 24]));
    const large = Array.from({ length: 9 }, () => piece('image/png', 1_100_000));
    expect(planned(large)).toEqual([...Array<string>(6).fill('left out'), ...Array<string>(3).fill('media')]);
  });

  it('is the first of a question, which results take no room from', () => {
    const question = Array.from({ length: 12 }, () => piece('image/png', 900_000));
    const history = [stepWith([piece('image/png', 5), question[0] as StepContent])];
    const kinds = [...planContent({ content: question, history }, claude).values()].map(({ kind }) => kind);
    expect(kinds).toEqual([...Array<string>(10).fill('media'), 'note', 'note', 'media']);
  });

  it('is at most five PDF for Bedrock, the others as text', () => {
    const of = settings('bedrock', 'anthropic.claude-opus-4');
    const pdfs = (length: number) => Array.from({ length }, () => piece('application/pdf', 10, 'resource'));
    const plan = planContent(
      { content: pdfs(4).map((one) => ({ ...one, kind: 'file' })), history: [stepWith(pdfs(3))] },
      of,
    );
    expect([...plan.values()].map(({ kind }) => kind)).toEqual([
      'media',
      'media',
      'media',
      'text',
      'text',
      'media',
      'media',
    ]);
  });

  it('counts by a guess that is low, and by names alone', () => {
    const history = [stepWith([piece('image/png', 3_000_000), piece('application/pdf', 300_000, 'resource')])];
    expect(contentTokens({ history }, claude)).toBe(300 + 3_000);
    expect(contentTokens({ history }, settings('openai-compatible', 'mine'))).toBe(32_768 / 4);
  });
});
