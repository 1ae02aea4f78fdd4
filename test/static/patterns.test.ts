import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

/** Where the source makes a regular expression of a text, and why no stranger’s text is run there without bounds. */
const known: Readonly<Record<string, string>> = {
  'apps/gateway/src/configurations/hide.ts': 'of words of the source',
  'libs/configuration/src/authorization.ts': 'of words of the source',
  'libs/schemas/src/regex-flags.ts': 'is compiled and never run, at most 4,000 characters of it',
  'libs/core/src/foreign-text.ts': 'of patterns of the source',
  'libs/model/src/rules/clauses.ts': 'of words of the source',
  'libs/model/src/rules/plan.ts': 'a name in which every other character is a dot: nothing is repeated',
  'libs/patterns/src/regex-time-budget.ts': 'runs patterns of schemas and of cases within a time',
  'libs/core/src/patterns/linear-pattern.ts': 'runs patterns of searches in a linear engine, within a size and a time',
  'libs/proxy/src/injected.ts': 'of words of the source',
  'libs/run/src/strategy/named-steps.ts': 'of words of the source',
  'libs/run/src/strategy/route.ts': 'of words of the source',
  'libs/packs/src/document/entities.ts': 'a name of which every character stands for itself',
};

describe('patterns that others write', () => {
  const files = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts']).map((file) => file.replaceAll('\\', '/'));

  it('are run in one library, and no text becomes a pattern elsewhere', () => {
    const making = files.filter((file) => /\bRegExp\(|from 're2js'/.test(readFileSync(file, 'utf8')));
    expect(making.sort()).toEqual(Object.keys(known).sort());
  });

  it('of schemas are checked by one validator, which takes their patterns from there', () => {
    const checking = files.filter((file) =>
      /from 'ajv|fromJSONSchema|jsonSchemaValidator/.test(readFileSync(file, 'utf8')),
    );
    expect(checking).toEqual(['libs/tools/src/binding/json-schema-input.ts']);
    expect(readFileSync('libs/tools/src/binding/json-schema-input.ts', 'utf8')).toContain('regExp: patience.regExp');
  });
});
