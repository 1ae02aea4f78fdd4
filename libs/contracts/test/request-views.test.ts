import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fieldsThere, requestOfTool } from '@sluice/core';
import { make } from '@sluice/contracts';
import { generate } from '../generate.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-schemas-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(import.meta.dirname, '../../../schemas'), folder, { recursive: true });
const file = join(folder, 'AgentRequest.avsc');
const schema = JSON.parse(readFileSync(file, 'utf8')) as { fields: object[] };

function generatedWith(field: object): Readonly<Record<string, string>> {
  writeFileSync(file, JSON.stringify({ ...schema, fields: [...schema.fields, field] }));
  return generate(folder);
}

const locale = { name: 'locale_name', type: ['null', 'string'], doc: 'Which.', default: null };

describe('who sees a field of a request', () => {
  it('is said in its schema, and tools and audit follow', () => {
    const files = generatedWith({ ...locale, seen_by: ['tool', 'audit'] });
    const views = files['core/src/generated/request-views.ts'];
    expect(views).toMatch(/requestFieldsOfTools = \[.*'localeName'\] as const;/);
    expect(views).toMatch(/requestFieldsOfAudit = \['strategy', .*'localeName'\] as const;/);
    for (const path of ['core/src/generated/request-views.ts', '../types/request-of-tool.d.ts'])
      expect(files[path]).toContain('  /** Which. */\n  readonly localeName?: string;\n}');
  });

  it('is not what a registry gets, so that a schema keeps its id', () =>
    expect(generatedWith({ ...locale, seen_by: ['tool'] })['contracts/src/generated/schemas.ts']).not.toContain(
      'seen_by',
    ));

  it('is refused where no view has that name, or a tool would get more than a text', () => {
    expect(() => generatedWith({ ...locale, seen_by: ['tools'] })).toThrow(/tool and audit/);
    expect(() => generatedWith({ ...locale, type: ['null', 'int'], seen_by: ['tool'] })).toThrow(/not a text or null/);
  });

  it('is handed on where there is something to hand on', () => {
    const request = make.agentRequest({ question: 'q', strategy: 'plan' });
    expect(requestOfTool(request)).not.toHaveProperty('strategy');
    expect(requestOfTool(request, ['strategy', 'userId'])).toEqual({ strategy: 'plan' });
    expect(fieldsThere(request, ['userId', 'strategy'])).toEqual([['strategy', 'plan']]);
  });
});
