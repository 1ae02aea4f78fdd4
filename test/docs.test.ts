import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  faultCodes,
  httpErrors,
  insufficientPermissions,
  rejectionReasons,
  hiddenReasons,
  runErrors,
  securityFaults,
  toolErrorReasons,
  toolErrors,
} from '@sluice/core';
import { findingKinds } from '@sluice/audit';
import { cliPage } from '../apps/sluice/src/cli-page.js';
import { pagesWithTables, withTopicTables } from '../apps/sluice/src/topic-tables.js';
import { commands } from '../apps/sluice/src/commands/all.js';
import { defaultPace } from '../apps/audit/src/pace.js';
import { usage as auditUsage } from '../apps/sluice/src/commands/audit.js';
import { redriveHeader } from '@sluice/contracts';
import { createMetrics } from '@sluice/host';
import { grantLifeMs } from '@sluice/run';
import { usage as deadLettersUsage } from '../apps/sluice/src/commands/dead-letters.js';
import { usage as exportUsage } from '../apps/sluice/src/commands/export.js';
import { usage as keysUsage } from '../apps/sluice/src/commands/keys.js';
import { usage as replayUsage } from '../apps/sluice/src/commands/replay.js';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The rows of the first table under a heading: the first cell without its back-ticks, then the others. */
function table(text: string, heading: string): ReadonlyMap<string, readonly string[]> {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((line) => {
      const [name = '', ...cells] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      return [name.replaceAll('`', ''), cells];
    }),
  );
}

it('docs/lifecycle.md names every reason for hiding a tool, in their order', () => {
  const [, list = ''] = /every reason why it is\s+hidden: (.*?)\./s.exec(read('docs/lifecycle.md')) ?? [];
  expect([...list.matchAll(/`(\w+)`/g)].map(([, reason]) => reason)).toEqual(hiddenReasons);
});

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');

  it.each([
    ['Tool errors', toolErrors],
    ['Run errors', runErrors],
    ['HTTP errors', httpErrors],
  ])('has exactly the codes of the table %s, with their meaning and remedy', (heading, entries) => {
    const written = table(page, heading);
    expect([...written.keys()]).toEqual(Object.keys(entries));
    for (const [code, { meaning, retryable, remedy }] of Object.entries(entries)) {
      expect(written.get(code)).toEqual([meaning, retryable ? 'yes' : 'no', remedy]);
    }
  });

  it.each([
    [
      'Reasons of tool errors',
      Object.fromEntries(Object.entries(toolErrorReasons).map(([reason, { meaning }]) => [reason, meaning])),
    ],
    ['Faults', faultCodes],
  ])('has exactly the codes of the table %s', (heading, entries) => {
    expect(Object.fromEntries([...table(page, heading)].map(([code, [meaning]]) => [code, meaning]))).toEqual(entries);
  });

  it.each(Object.entries(runErrors).filter(([code]) => code !== 'budget_exceeded'))(
    'says that asking again after %s takes a new request_id: under the old one nothing would run',
    (_code, { remedy }) => expect(remedy).toContain('under a new request_id'),
  );

  it.each(['model_failed', 'dead_lettered'] as const)('says of %s how an operator takes it up again', (code) =>
    expect(runErrors[code].remedy).toContain('`sluice dead-letters redrive`'),
  );

  it('names the faults that leave their run as it is', () => {
    const [, list = ''] = /^error, except for (.*?):/ms.exec(page) ?? [];
    expect([...list.matchAll(/`(\w+)`/g)].map(([, code]) => code)).toEqual([...securityFaults]);
  });
});

it('docs/troubleshooting.md names every code and reason, with what to do', () => {
  const page = read('docs/troubleshooting.md');
  const all = [toolErrors, toolErrorReasons, runErrors, httpErrors, faultCodes].flatMap((codes) => Object.keys(codes));
  expect([...all, ...hiddenReasons].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

describe('the tables of topics', () => {
  it.each(pagesWithTables)('in %s are as the list of topics has them: `npm run generate` writes them', (page) =>
    expect(read(page)).toBe(withTopicTables(page, read(page))),
  );

  it('take in a topic that is missing and leave the rows of the page, so the test can fail', () => {
    const page = read('docs/security.md');
    const without = page.replace(/^\| `agent\.dead-letters` \| what it holds.*\n/m, '');
    expect(without).not.toBe(page);
    expect(withTopicTables('docs/security.md', without)).toBe(page);
  });
});

describe('docs/cli.md', () => {
  it('is what the commands say of themselves: `npm run generate` writes it', async () =>
    expect(read('docs/cli.md')).toBe(await cliPage()));

  it.each(Object.keys(commands))('says every option that %s takes, and no other', async (name) => {
    const source = read(`apps/sluice/src/commands/${name}.ts`);
    const { usage } = (await commands[name]?.load()) ?? { usage: '' };
    const taken = [...source.matchAll(/\b'?([a-z][a-z-]*)'?: \{ type: '(?:string|boolean)'/g)].map(
      ([, option]) => option,
    );
    const said = [...usage.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, option]) => option);
    expect([...new Set(said)].sort()).toEqual(taken.sort());
    for (const line of usage.split('\n')) {
      expect(line).toMatch(new RegExp(`^(?:sluice ${name}\\b|  )`));
      expect(line.length).toBeLessThanOrEqual(140);
    }
  });
});

describe('docs/approvals.md', () => {
  it('has exactly the reasons for which a decision does not count', () => {
    const [, list = ''] = read('docs/approvals.md').split('| `not_taken` | meaning |');
    const rows = [
      ...list
        .split('\n\n', 1)
        .join()
        .matchAll(/^\| `(\w+)` \| (.*) \|$/gm),
    ];
    expect(Object.fromEntries(rows.map(([, reason, meaning]) => [reason, meaning]))).toEqual(rejectionReasons);
  });
});

describe('docs/metrics.md', () => {
  it('has exactly the metrics that are exported, with type, labels and help (G-117, G-181)', async () => {
    const metrics = createMetrics();
    const exported = await metrics.registry.getMetricsAsJSON();
    const page = read('docs/metrics.md');
    const written = new Map([...table(page, 'The metrics of the specification'), ...table(page, 'Further metrics')]);
    expect([...written.keys()]).toEqual(exported.map((metric) => metric.name));
    for (const { name, type, help } of exported) {
      const { labelNames } = metrics.registry.getSingleMetric(name) as unknown as { labelNames: string[] };
      const labels = labelNames.map((label) => `\`${label}\``).join(', ');
      expect([name, written.get(name)]).toEqual([name, [type, labels, help]]);
    }
  });
});

describe('docs/audit.md', () => {
  const page = read('docs/audit.md');

  it('has exactly the findings that there are, with their meaning', () => {
    const written = [...table(page, 'What verify finds')].map(([finding, [meaning]]) => [finding, meaning]);
    expect(Object.fromEntries(written)).toEqual(findingKinds);
  });

  it('has exactly the kinds of entries that are written', () => {
    const sources = globSync('libs/audit/src/{entries/*,checkpoint}.ts', { cwd: root }).map(read).join('\n');
    const inCode = [
      ...sources.matchAll(/draftEntry\(\s*'(\w+)'/g),
      ...sources.matchAll(/checkpointKind = '(\w+)'/g),
      ...sources.matchAll(/\? '(undecodable)' : '(not_told)'/g),
    ].flatMap(([, ...kinds]) => kinds);
    const written = [...table(page, 'What is recorded').keys()].flatMap((cell) => cell.split(', '));
    expect(written.sort()).toEqual([...new Set(inCode)].sort());
  });

  it('says how often there is a checkpoint, as it is', () => {
    expect(page).toContain('after 1,000 entries or a\nminute');
    expect(defaultPace).toEqual({ entries: 1_000, milliseconds: 60_000 });
  });

  it('names metrics and commands that there are', () => {
    const exported = createMetrics()
      .registry.getMetricsAsArray()
      .map((metric) => metric.name);
    for (const [name] of page.matchAll(/sluice_\w+/g)) expect(exported).toContain(name);
    for (const [, action] of page.matchAll(/sluice audit (\w+)/g))
      expect(auditUsage).toContain(`sluice audit ${action}`);
  });
});

describe('every page', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'libs/*/src/**/*.md'], { cwd: root });

  it('links only to what is there', () => {
    expect(pages.length).toBeGreaterThan(4);
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => globSync(join(page, '..', target), { cwd: root }).length === 0)
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('links only to headings that are there', () => {
    const anchors = (page: string): ReadonlySet<string> =>
      new Set([...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]*\.md)?#([^)]+)\)/g)].map(([, file, anchor = '']) => ({
        page,
        target: file === undefined ? page : join(page, '..', file),
        anchor,
      })),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ target, anchor }) => !anchors(target).has(anchor))).toEqual([]);
  });
});

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

describe('the blocks of code of every page', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'examples/*/*.md', 'packages/*/*.md'], { cwd: root }).filter(
    (path) => !/node_modules|^docs\/tools\//.test(path),
  );
  const blocks = pages.flatMap((page) =>
    [...read(page).matchAll(/^( *)```(\S*)[^\n]*\n([\s\S]*?)^\1```$/gm)].map(([, , language = '', text = '']) => ({
      page,
      language,
      text,
    })),
  );

  it('name their language, and JSON is JSON', () => {
    expect(blocks.length).toBeGreaterThan(200);
    expect(blocks.filter(({ language }) => language === '')).toEqual([]);
    for (const { page, language, text } of blocks)
      if (language === 'json') expect({ page, text: isJson(text) ? '' : text }).toEqual({ page, text: '' });
  });

  it('give commands of sluice that there are, with options that they take', async () => {
    const lines = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ page, text }) =>
        text
          .replaceAll('\\\n', ' ')
          .split('\n')
          .map((line) => ({ page, line })),
      )
      .flatMap(({ page, line }) =>
        [...line.matchAll(/(?:^|\| |&& )(?:[A-Z_]+=\S+ )*(?:npx )?sluice ([a-z-]+)([^|#]*)/g)].map(
          ([, command = '', rest = '']) => ({
            page,
            line,
            command,
            options: optionsOf(rest.split(/ -- /, 1)[0] ?? ''),
          }),
        ),
      );
    expect(lines.length).toBeGreaterThan(60);
    const wrong = await Promise.all(
      lines.map(async ({ page, line, command, options }) => {
        const { usage } = (await commands[command]?.load()) ?? {};
        const known = usage === undefined ? [] : optionsOf(usage);
        return options.every((option) => known.includes(option)) && usage !== undefined ? [] : [`${page}: ${line}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The options that a command line or a usage names. */
function optionsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, name = '']) => name);
}

describe('the site', () => {
  it('and docs/README.md have every page of docs/', async () => {
    const { navigation, readSite } = (await import(join(root, 'docs/.vitepress/pages.mjs'))) as SiteModule;
    const { pages } = readSite(root);
    const index = read('docs/README.md');
    const main = pages.filter(({ path }) => !path.includes('/') && path !== 'index.md');
    expect(main.filter(({ path }) => !index.includes(`](${path})`))).toEqual([]);
    expect(navigation(pages).map(({ text }) => text)).toEqual(['Start', 'Guides', 'Operate', 'Reference', 'Project']);
    expect(navigation([...pages, { path: 'new.md', text: '# New' }]).at(-1)?.text).toBe('Further pages');
  });
});

interface SitePage {
  readonly path: string;
  readonly text: string;
}

interface SiteModule {
  readSite(root: string): { readonly pages: readonly SitePage[] };
  navigation(pages: readonly SitePage[]): readonly { readonly text: string }[];
}

describe('docs/operations.md', () => {
  it('has exactly the variables that are read', () => {
    const sources = globSync('libs/host/src/*environment.ts', { cwd: root }).map(read).join('\n');
    const inCode = [...sources.matchAll(/'((?:SLUICE|KAFKA|SCHEMA_REGISTRY|DATABASE)_[A-Z_]+)'/g)].map(
      // Any variable can come from a file; the page says so once.
      (match) => (match[1] ?? '').replace(/_FILE$/, ''),
    );
    expect([...table(read('docs/operations.md'), 'Variables').keys()].sort()).toEqual([...new Set(inCode)].sort());
  });
});

describe('docs/dead-letters.md', () => {
  const page = read('docs/dead-letters.md');

  it('shows every command for dead letters that there is, and no other', () => {
    const actions = (text: string) =>
      new Set([...text.matchAll(/^(?:npx )?sluice dead-letters (\w+)/gm)].map((found) => found[1]));
    expect(actions(page)).toEqual(actions(deadLettersUsage));
    expect(actions(page).size).toBe(3);
  });

  it('names the header, the metric and the security codes as they are', () => {
    expect(page).toContain(`\`${redriveHeader}\``);
    expect(page).toContain('`sluice_redriven_records_total`');
    for (const code of securityFaults) expect(page).toContain(`\`${code}\``);
  });
});

describe('docs/security.md', () => {
  const page = read('docs/security.md');

  it('says what happens on each kind of security event', () => {
    for (const code of securityFaults) expect(page).toContain(`\`${code}\``);
    expect(page).toContain(insufficientPermissions);
    expect(page).toContain(`A grant lasts ${grantLifeMs / 60_000} minutes.`);
  });

  it('names metrics that there are', () => {
    const named = [...table(page, 'What is counted').keys()];
    expect(named).toHaveLength(4);
    const exported = createMetrics()
      .registry.getMetricsAsArray()
      .map((metric) => metric.name);
    expect(exported).toEqual(expect.arrayContaining([...named, 'sluice_expired_grants_total']));
  });

  it('shows every command for keys that there is, and no other', () => {
    const actions = (text: string) =>
      new Set([...text.matchAll(/^(?:npx )?sluice keys (\w+)/gm)].map((found) => found[1]));
    expect(actions(page)).toEqual(actions(keysUsage));
  });
});

describe('docs/replay.md', () => {
  const [replay = '', exported = ''] = read('docs/replay.md').split('\n## Export\n');
  const options = (text: string) => [...new Set(text.match(/--[a-z]+/g))].sort();

  it('shows every option that the two commands have, and no other', () => {
    expect(options(replay)).toEqual(options(replayUsage));
    expect(options(exported)).toEqual(options(exportUsage));
  });
});
