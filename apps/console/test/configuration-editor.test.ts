import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { possibleAt } from '../src/pages/policy/what-if/completions.js';
import { yamlPosition } from '../src/pages/policy/what-if/yaml-position.js';

const file = join(import.meta.dirname, '../../../schemas/configuration.schema.json');
const schema = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;

/** The place where `|` stands in the text. */
const placeIn = (text: string) => yamlPosition(text.replace('|', ''), text.indexOf('|'));
const namesIn = (text: string): readonly string[] => {
  const place = placeIn(text);
  return place === null ? [] : possibleAt(schema, place).map(({ name }) => name);
};

describe('The editor of a configuration', () => {
  it('knows the keys around the place where one writes', () => {
    expect(placeIn('to|')).toEqual({ path: [], kind: 'key', from: 0 });
    expect(placeIn('tool:\n  a:\n    type: x\n    gr|')).toMatchObject({ path: ['tool', 'a'], kind: 'key' });
    expect(placeIn('tool:\n  a:\n    state: x\npolicy:\n  |')).toMatchObject({ path: ['policy'], kind: 'key' });
    expect(placeIn('rules:\n  - name: x\n    wh|')).toMatchObject({ path: ['rules', '[]'], kind: 'key' });
    expect(placeIn('rules:\n- name: x\n  time:\n    zo|')).toMatchObject({
      path: ['rules', '[]', 'time'],
      kind: 'key',
    });
    expect(placeIn('model:\n  provider: r|')).toMatchObject({ path: ['model', 'provider'], kind: 'value', from: 19 });
    expect(placeIn('policy:\n  approval: { eff|')).toMatchObject({ path: ['policy', 'approval'], kind: 'key' });
    expect(placeIn('mcp:\n  tools:\n    a: { effect: re|')).toMatchObject({ path: ['mcp', 'tools', 'a', 'effect'] });
    expect(placeIn('# a comment: |')).toBeNull();
  });

  it('offers what the schema of the configuration has there', () => {
    expect(namesIn('|')).toEqual(expect.arrayContaining(['tool', 'policy', 'model', 'rules']));
    expect(namesIn('tool:\n  add:\n    |')).toEqual(expect.arrayContaining(['type', 'group', 'available_in_states']));
    expect(namesIn('tool:\n  add:\n    type: |')).toContain('knowledge-query');
    expect(namesIn('policy:\n  |')).toContain('allowed_tools');
    expect(namesIn('mcp:\n  tools:\n    a: { effect: |')).toContain('read_only');
    expect(namesIn('nothing:\n  like: this\n  |')).toEqual([]);
  });
});
