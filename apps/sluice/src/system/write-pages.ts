import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolDocs } from '@sluice/core';
import type { ConfiguredTool } from '@sluice/core';

/**
 * Writes the pages of these tools into a folder, and removes those of others that an earlier call wrote. Other files
 * stay.
 */
export async function writePages(
  folder: string,
  tools: readonly ConfiguredTool[],
): Promise<{ readonly written: number; readonly removed: number }> {
  const pages = toolDocs(tools);
  await mkdir(folder, { recursive: true });
  let removed = 0;
  for (const name of await readdir(folder)) {
    if (pages.has(name) || !name.endsWith('.md') || !(await isPage(join(folder, name)))) continue;
    await rm(join(folder, name));
    removed++;
  }
  for (const [name, text] of pages) await writeFile(join(folder, name), text);
  return { written: pages.size, removed };
}

async function isPage(file: string): Promise<boolean> {
  return /^# .*\n\n\*\*Category:\*\* /.test(await readFile(file, 'utf8'));
}
