import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { projectRoot } from '../../harness/configurations.js';
import { startBrowser, watchedPage } from './browser.js';
import { endAll, served, signInBy } from './served.js';
import type { Served } from './served.js';

const runs = Number(process.env['SLUICE_CONSOLE_RUNS'] ?? 100_000);
const home = mkdtempSync(join(tmpdir(), 'sluice-large-'));
const data = join(home, 'data');
let browser: Browser;
let system: Served;

beforeAll(async () => {
  const seeded = spawnSync(
    process.execPath,
    [join(projectRoot, 'bin/setup.mjs'), 'bench', 'seed', '--runs', String(runs), '--data', data],
    { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (seeded.status !== 0) throw new Error('The history could not be seeded; the lines above say why.');
  system = await served({}, data);
  browser = await startBrowser();
}, 1_200_000);
afterAll(async () => {
  await browser.close();
  await endAll();
  rmSync(home, { recursive: true, force: true });
});

/** The time until something is there, and the longest that the page was busy meanwhile, milliseconds. */
async function timed(page: Page, act: () => Promise<void>): Promise<{ readonly ms: number; readonly busyMs: number }> {
  await page.evaluate(`globalThis.longest = 0; globalThis.observer ??= new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, entry.duration);
  }); globalThis.observer.observe({ type: 'longtask' })`);
  const begun = performance.now();
  await act();
  const ms = performance.now() - begun;
  return { ms, busyMs: await page.evaluate<number>('globalThis.longest') };
}

it('lists so many runs without freezing: the first, those behind, and those of a filter', async () => {
  const { page, wrong } = await watchedPage(await browser.newContext(), system.base);
  const rows = page.getByRole('region', { name: 'Runs' }).getByRole('row');
  await signInBy(page, system.base, system.secret(), '/runs');
  const first = await timed(page, () => rows.nth(5).waitFor());
  const scrolled = await timed(page, async () => {
    for (let n = 0; n < 20; n++) {
      await page.getByRole('region', { name: 'Runs' }).evaluate('(list) => { list.scrollTop = list.scrollHeight; }');
      await page.waitForTimeout(200);
    }
  });
  const filtered = await timed(page, async () => {
    await page.evaluate("history.pushState(null, '', '/runs?outcome=answer&user=user%3Anoone')");
    await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))");
    await page.getByText('No run', { exact: false }).first().waitFor();
  });
  console.log(JSON.stringify({ runs, first, scrolled, filtered }));
  expect(wrong).toEqual([]);
  expect(await rows.count()).toBeLessThan(200);
});

it('shows the first page and the audit of such a log', async () => {
  const { page, wrong } = await watchedPage(await browser.newContext(), system.base);
  await signInBy(page, system.base, system.secret(), '/');
  const home = await timed(page, () => page.getByRole('heading', { name: 'Home' }).waitFor());
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  const audit = await timed(page, () => page.getByRole('row').nth(5).waitFor());
  console.log(JSON.stringify({ runs, home, audit }));
  expect(wrong).toEqual([]);
});
