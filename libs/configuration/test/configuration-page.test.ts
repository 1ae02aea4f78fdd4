import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, configurationKeys, formatProblems, limitRanges } from '@sluice/configuration';
import { modelProviders } from '@sluice/core';
import { parse } from 'yaml';
import { readText } from './read-cases.js';
import { sampleInputs } from './sample-inputs.js';

const page = readText('docs/configuration.md');
const sections = page.split(/^## /m).slice(1);

/** The rows of a section's table as cells, without its head. */
function rows(section: string): readonly (readonly string[])[] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function section(title: string): string {
  const found = sections.find((one) => one.split('\n')[0] === title);
  if (found === undefined) throw new Error(`docs/configuration.md has no section "## ${title}"`);
  return found;
}

/** What stands in the section as YAML. */
function blocks(text: string): readonly string[] {
  return [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

describe('docs/configuration.md', () => {
  it('has a table for every section the compiler knows, with exactly its keys, and no other', () => {
    const written = sections
      .map((one) => [one.split('\n')[0] ?? '', one] as const)
      .filter(([title]) => title === 'The file' || title.startsWith('`'))
      .map(([title, text]) => [
        title === 'The file' ? '' : title.replaceAll('`', ''),
        rows(text).map((cells) => cells[0]?.replaceAll('`', '')),
      ]);
    expect(Object.fromEntries(written)).toEqual(configurationKeys);
  });

  it('states the defaults and the ranges of the limits', () => {
    const written = rows(section('`limits`')).map((cells) => cells.slice(0, 3));
    const known = Object.entries(limitRanges).map(([key, range]) => [
      `\`${key}\``,
      `number, ${'least' in range ? '0' : '1'} to ${String(range.most)}`,
      `\`${String(range.byDefault)}\``,
    ]);
    expect(written).toEqual(known);
  });

  it('names every provider', () => {
    const provider = rows(section('`model`'))
      .find((cells) => cells[0] === '`provider`')
      ?.join(' ');
    for (const name of modelProviders) expect(provider).toContain(`\`${name}\``);
  });

  it('explains every kind of finding that the cases of the compiler show', () => {
    const kinds = rows(section('What is reported though it is legal')).map((cells) => cells[0]?.replaceAll('`', ''));
    const files = ['cases/findings.yaml', 'many-tools.test.ts', 'network-findings.test.ts'];
    const text = files.map((file) => readText(`libs/configuration/test/${file}`)).join('\n');
    const shown = [...text.matchAll(/kind(?:: '?| === ')(\w+)/g)].map((match) => match[1]);
    expect(shown.filter((kind) => !kinds.includes(kind))).toEqual([]);
    expect(kinds.filter((kind) => !new RegExp(`\\b${String(kind)}\\b`).test(text))).toEqual([]);
  });

  it('shows a model of each provider, and each of them compiles', () => {
    const models = blocks(section('A model of each provider')).map((block) => parse(block) as { model: object });
    const shown = new Set(
      models.map((block) => {
        const { configuration, problems } = compileConfiguration({ tool: {}, ...block }, sampleInputs);
        expect(formatProblems(problems)).toBe('');
        return configuration?.model.provider;
      }),
    );
    expect(shown).toEqual(new Set(modelProviders.filter((provider) => provider !== 'rules')));
  });

  it('has an example that compiles, with every tool offered', () => {
    const [example = ''] = blocks(section('A whole example'));
    const { configuration, problems } = compileConfiguration(parse(example), sampleInputs);
    expect(formatProblems(problems)).toBe('');
    expect(configuration?.tools.map((tool) => tool.unavailable)).toEqual([null, null, null]);
  });
});
