import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonText, parseExactJson } from '@sluice/core';
import type { ApprovalRequested } from '@sluice/contracts';
import type { CommandContext } from '../commands/command-context.js';

/**
 * Opens the arguments of a call in the editor of the one before the terminal; returns what was written, null where
 * nothing was changed.
 */
export function editArguments(
  { arguments: text }: Pick<ApprovalRequested, 'arguments'>,
  { terminal, environment }: Pick<CommandContext, 'terminal' | 'environment'>,
): string | null {
  if (!terminal) throw new Error('--edit needs a terminal. Give the arguments with --arguments.');
  const editor = environment.editor?.() ?? 'vi';
  const folder = mkdtempSync(join(tmpdir(), 'sluice-arguments-'));
  try {
    const file = join(folder, 'arguments.json');
    const before = isJsonText(text) ? JSON.stringify(parseExactJson(text), null, 2) : text;
    writeFileSync(file, `${before}\n`, { mode: 0o600 });
    // A shell, since an editor may be given with options of its own, as git takes it.
    const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    if (error !== undefined || status !== 0)
      throw new Error(`The editor ${editor} did not end well: nothing was decided.`);
    const after = readFileSync(file, 'utf8').trim();
    return after === before.trim() ? null : after;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
