import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { ToolInvocationContext } from '@sluice/core';
import type { Capabilities } from '@sluice/tools';
import type { ToolKit } from '../libs/isolation/src/tool-kit.js';
import type * as author from '../types/tool.js';
import { projectRoot } from './harness/configurations.js';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

describe('the types for authors of tools', () => {
  it('promise nothing that a tool is not handed, and leave no capability out', () => {
    // Checked when this file is compiled: what is handed over must be what the types promise.
    const kit = (handed: ToolKit): Omit<author.ToolKit, 'defineTool'> => handed;
    const capabilities = (handed: Capabilities): author.Capabilities => handed;
    const context = (handed: ToolInvocationContext): author.ToolContext => handed;
    const names: Same<keyof author.Capabilities, keyof Capabilities> = true;
    const kits: Same<keyof author.ToolKit, keyof ToolKit> = true;
    expect([kit, capabilities, context, names, kits]).toHaveLength(5);
  });

  const folder = mkdtempSync(join(tmpdir(), 'sluice-tool-types-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot, join(folder, 'node_modules/sluice'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compile = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
    const types = ['--lib', 'es2024,dom', '--ignoreConfig'];
    try {
      return execFileSync(process.execPath, [compiler, ...options, ...types, name], { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      return String((error as { stdout?: unknown }).stdout);
    }
  };
  const page = readFileSync(join(projectRoot, 'docs/writing-a-tool.md'), 'utf8');
  const [, example = ''] = /```ts \S+\n([\s\S]*?)```/.exec(page) ?? [];

  it('are what the package exports as sluice/tool, and fit the example of the page', () => {
    expect(example).toContain("from 'sluice/tool'");
    expect(compile('example.ts', example)).toBe('');
  });

  it('find a capability that is not declared, and arguments of another type', () => {
    expect(compile('undeclared.ts', example.replace("['workspace']", '[]'))).toContain("'workspace' does not exist");
    expect(compile('other.ts', example.replace('read(path,', 'read(7,'))).toContain("'number' is not assignable");
  });
});
