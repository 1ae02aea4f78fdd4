import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projectRoot } from './harness/configurations.js';

const page = readFileSync(join(projectRoot, 'docs/tutorial.md'), 'utf8');
const blocks = [...page.matchAll(/```(\w+)(?: (\S+))?\n([\s\S]*?)```/g)].map(([, language, file, text = '']) => ({
  language,
  file,
  lines: text.trimEnd().split('\n'),
}));
const home = mkdtempSync(join(tmpdir(), 'sluice-tutorial-'));
const here = join(home, 'clone');
const running: ChildProcess[] = [];

/** The server that the page names where npm's registry is out of reach. */
const ownServer = 'node examples/mcp/system/server.mjs ../my-desk/files';
const npmServer = 'npx -y @modelcontextprotocol/server-filesystem ../my-desk/files';

beforeAll(() => {
  mkdirSync(join(home, 'bin'), { recursive: true });
  mkdirSync(here);
  symlinkSync(join(projectRoot, 'examples'), join(here, 'examples'));
  // `npx sluice …` and `npm start` as in a clone, without looking for what is to be installed or built.
  const main = `exec '${process.execPath}' '${join(projectRoot, 'dist/main.js')}'`;
  program('npx', `shift\n${main} "$@"`);
  program('npm', `${main} "$@"`);
});
afterAll(() => {
  for (const { pid } of running) if (pid !== undefined) tryToStop(pid);
  rmSync(home, { recursive: true, force: true });
});

function program(name: string, text: string): void {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(home, 'bin', name), 0o755);
}

function tryToStop(pid: number): void {
  try {
    process.kill(-pid, 'SIGINT');
  } catch {
    // It has ended.
  }
}

interface Shell {
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
  says(text: string): Promise<void>;
  /** What it has said so far. */
  said(): string;
  stop(): void;
}

function shell(line: string): Shell {
  const child = spawn('sh', ['-c', line], {
    cwd: here,
    detached: true,
    env: {
      PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '',
      NO_COLOR: '1',
      SLUICE_PORT: '0',
      SLUICE_CONFIG: '../my-desk/sluice.yaml',
      SLUICE_DATA: '../my-desk/data',
    },
  });
  running.push(child);
  let output = '';
  const pieces = (listen: () => void) => [child.stdout, child.stderr].map((stream) => stream.on('data', listen));
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (output += piece.toString()));
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  );
  return {
    ended,
    said: () => output,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.includes(text)) resolve();
        };
        pieces(look);
        look();
        void ended.then(() => reject(new Error(`It ended before it said “${text}”: ${output}`)));
      }),
    stop: () => {
      if (child.pid !== undefined) tryToStop(child.pid);
    },
  };
}

/** Runs a line to its end; returns its output. */
async function run(line: string): Promise<string> {
  const { code, output } = await shell(line).ended;
  expect([line, code, output]).toEqual([line, 0, output]);
  return output;
}

/** Whether a shown line is in the output, however that is indented; … stands for anything. */
function showsLine(output: string, line: string): boolean {
  const words = line.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(words.replaceAll(/\s+/g, '\\s+').replaceAll('…', '.*')).test(output);
}

function writeFile(file: string, lines: readonly string[]): void {
  const text = lines
    .join('\n')
    .replace('command: npx', 'command: node')
    .replace(`'-y', '@modelcontextprotocol/server-filesystem'`, 'examples/mcp/system/server.mjs');
  writeFileSync(join(here, file), `${text}\n`);
}

it('docs/tutorial.md takes a reader from a folder to a what-if, word for word', async () => {
  expect(page).toContain(ownServer);
  let services: Shell | undefined;
  let question: Shell | undefined;
  let output = '';
  for (const { language, file, lines } of blocks) {
    if (file !== undefined) {
      writeFile(file, lines);
      continue;
    }
    if (language === 'text') {
      for (const line of lines) expect([line, showsLine(output, line), output]).toEqual([line, true, output]);
      continue;
    }
    for (const written of lines) {
      const id = /approvals approve (a-\w+)/.exec(output)?.[1] ?? '';
      const line = written.replace(npmServer, ownServer).replace('a-3f9c', id.slice(0, 8));
      if (line === 'npm start') {
        services = shell(line);
        await services.says('Ctrl-C stops it.');
      } else if (line.startsWith('npx sluice ask')) {
        question = shell(line);
        await question.says('approvals approve a-');
        output += question.said();
      } else output += await run(line);
    }
    if (lines.some((line) => line.startsWith('npx sluice approvals approve'))) {
      const end = await question?.ended;
      expect(end?.code).toBe(0);
      output += end?.output ?? '';
    }
  }
  services?.stop();
  expect((await services?.ended)?.output).toContain('Stopping');
  expect(readFileSync(join(home, 'my-desk/files/report.md'), 'utf8')).toContain('3 rows.');
});
