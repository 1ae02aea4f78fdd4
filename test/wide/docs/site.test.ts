import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { projectRoot } from '../../harness/configurations.js';
import { axeFindings, overflow, startBrowser, watchedPage } from '../console/browser.js';

const site = join(projectRoot, 'dist/site');
const base = '/sluice/';
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Any web server: it knows files under the base, and that a folder has an index.html. */
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
  const file = join(
    site,
    path.startsWith(base) ? path.slice(base.length) : '../none',
    path.endsWith('/') ? 'index.html' : '',
  );
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return void response.writeHead(404).end();
  response
    .writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
    .end(readFileSync(file));
});
let origin = '';
let browser: Browser;

/** Files of the site that end so, by their paths within it. */
const files = (ending: string): readonly string[] =>
  globSync(`**/*${ending}`, { cwd: site }).map((path) => path.replaceAll('\\', '/'));
const read = (path: string): string => readFileSync(join(site, path), 'utf8');

beforeAll(async () => {
  const { status, stderr } = spawnSync('npm', ['run', 'docs', '--', '--base', base], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm run docs failed: ${stderr}`);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  server.close();
});

/** Opens a page of the site; fails where it asked for anything from elsewhere, or threw. */
async function visit(
  path: string,
  look: (page: Page) => Promise<void>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<void> {
  const context = await browser.newContext(options);
  const { page, wrong } = await watchedPage(context, origin);
  const missing: string[] = [];
  page.on('response', (response) => response.status() >= 400 && missing.push(response.url()));
  await page.goto(`${origin}${base}${path}`, { waitUntil: 'networkidle' });
  await look(page);
  expect({ wrong, missing }).toEqual({ wrong: [], missing: [] });
  await context.close();
}

/** Pages that readers begin with, and one of each generated kind. */
const mainPages = [
  '',
  'tutorial.html',
  'install.html',
  'which-to-choose.html',
  'troubleshooting.html',
  'configuration.html',
  'reference/configuration.html',
  'reference/api/runs.html',
  'tools/index.html',
  'files/CHANGELOG.html',
];

/** Findings that axe counts as minor or moderate: the theme's first page has no landmark, some tables a bare corner. */
const minor = /^(?:region|landmark-one-main|empty-table-header):/;

describe('the site', () => {
  it('finds a term offline', async () => {
    await visit('tutorial.html', async (page) => {
      await page.getByRole('button', { name: 'Search' }).first().click();
      const field = page.locator('.VPLocalSearchBox input');
      // The index comes with the first letters; from here on there is no network.
      await field.fill('app');
      await page.locator('.VPLocalSearchBox .result').first().waitFor();
      await page.context().setOffline(true);
      await field.fill('outcome_unknown');
      const first = page.locator('.VPLocalSearchBox .result').first();
      await first.waitFor();
      expect(await first.getAttribute('href')).toMatch(/(?:errors|troubleshooting|guarantees|lifecycle|http)\.html/);
    });
  });

  it.each(mainPages)('reads well in light, in dark and on a phone: /%s', async (path) => {
    const lookAt = async (page: Page): Promise<void> => {
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect((await axeFindings(page)).filter((finding) => !minor.test(finding))).toEqual([]);
    };
    await visit(path, lookAt);
    await visit(path, lookAt, { colorScheme: 'dark' });
    await visit(path, lookAt, { viewport: { width: 390, height: 844 } });
  });

  it('changes to dark at once, and keeps it', async () => {
    await visit('', async (page) => {
      await page.locator('.VPSwitchAppearance').first().click();
      await page.reload();
      expect(await page.locator('html').getAttribute('class')).toContain('dark');
    });
  });

  it('has all pages, anchors and files that its pages link to', () => {
    const pages = files('.html');
    expect(pages.length).toBeGreaterThan(100);
    const ids = new Map(
      pages.map((path) => [path, new Set([...read(path).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const broken = pages.flatMap((path) =>
      [...read(path).matchAll(/<a\s[^>]*?href="([^"]+)"/g)]
        .map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), `http://site${base}${path}`))
        .filter(({ host }) => host === 'site')
        .filter(({ pathname, hash }) => {
          const found = decodeURIComponent(pathname)
            .replace(base, '')
            .replace(/(^|\/)$/, '$1index.html');
          if (statSync(join(site, found), { throwIfNoEntry: false })?.isFile() !== true) return true;
          return hash !== '' && ids.get(found)?.has(decodeURIComponent(hash.slice(1))) === false;
        })
        .map(({ pathname, hash }) => `${path}: ${pathname}${hash}`),
    );
    expect([...new Set(broken)]).toEqual([]);
  });

  it('names no other host that a page would load from', () => {
    const loaded = /<(?:script|link|img|iframe)\s[^>]*?(?:src|href)="(https?:)?\/\/[^"]*"/g;
    expect(files('.html').flatMap((path) => read(path).match(loaded) ?? [])).toEqual([]);
    expect(files('.css').flatMap((path) => read(path).match(/url\((?:["']?)https?:[^)]*\)/g) ?? [])).toEqual([]);
  });

  it('has each page as Markdown beside it, and llms.txt lists them all', () => {
    const list = new Set(
      [...read('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path.replace(base, '')),
    );
    const pages = files('.html')
      .filter((path) => path !== '404.html')
      .map((path) => path.replace('.html', '.md'));
    expect(pages.filter((path) => !list.has(path))).toEqual([]);
    expect([...list].filter((path) => statSync(join(site, path), { throwIfNoEntry: false }) === undefined)).toEqual([]);
    expect(read('llms-full.txt')).toContain('# Your own desk in fifteen minutes');
  });

  it('describes every operation of the API and every key of the configuration', () => {
    const { paths } = JSON.parse(read('openapi.json')) as {
      paths: Record<string, Record<string, { summary: string }>>;
    };
    const api = files('.md')
      .filter((path) => path.startsWith('reference/api/'))
      .map(read)
      .join('\n');
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { summary }] of Object.entries(methods))
        expect([path, method, api.includes(`## ${summary}\n\n\`\`\`http\n${method.toUpperCase()} ${path}\n`)]).toEqual([
          ...[path, method, true],
        ]);
    expect(api.match(/^\*\*Rights\*\*:.{0,9}$/gm)).toBeNull();
    const keys = new Set([...read('reference/configuration.md').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, key]) => key));
    for (const key of ['tool', 'max_iterations', 'available_in_states', 'approvers', 'timeout_seconds'])
      expect(keys).toContain(key);
  });
});
