import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics } from '@sluice/contracts';
import { formsIn } from '../apps/sluice/src/command-forms.js';
import { commands, usages } from '../apps/sluice/src/commands/all.js';
import { completionScript } from '../apps/sluice/src/completion.js';
import { projectRoot } from './harness/configurations.js';

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

let scripts: Readonly<Record<'bash' | 'zsh', string>>;
beforeAll(async () => {
  const forms = [...(await usages()).values()].flatMap(formsIn);
  const summaries = new Map(Object.entries(commands).map(([name, { summary }]) => [name, summary]));
  const given = { summaries, forms, topics: allTopics };
  scripts = { bash: completionScript('bash', given), zsh: completionScript('zsh', given) };
});

/** Runs the shell's own completion function, as the shell does when a person presses the tab key behind these words. */
const ask = {
  bash: (words: readonly string[]): readonly string[] =>
    run('bash', ['--norc', '-c', `${scripts.bash}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', ...words]), // prettier-ignore
  // What zsh's builtins would show is printed instead.
  zsh: (words: readonly string[]): readonly string[] =>
    run('zsh', ['-f', '-c', `compdef() { : }; compadd() { shift; print -l -- "$@" }; _files() { print -l -- *(N) }\n_describe() { print -l -- \${(P)2%%:*} }\n${scripts.zsh}\nwords=("$@"); CURRENT=$#; _sluice`, 'zsh', ...words]), // prettier-ignore
};

function run(shell: string, args: readonly string[]): readonly string[] {
  const output = execFileSync(shell, args, { encoding: 'utf8', cwd: projectRoot });
  return output.split('\n').filter((line) => line !== '');
}

describe.each(['bash', 'zsh'] as const)('completion in %s', (shell) => {
  // Zsh is on few machines that run tests; the parts of the script that both shells share are tested by bash.
  const inShell = isThere(shell) ? it : it.skip;

  inShell('of commands, actions, flags, values and files', () => {
    const after = (...words: readonly string[]) => ask[shell](['sluice', ...words, '']);
    expect(after()).toEqual(expect.arrayContaining([...Object.keys(commands)]));
    expect(after('audit')).toEqual(expect.arrayContaining(['verify', 'show', 'denials', 'checkpoints']));
    expect(after('keys', 'api')).toEqual(expect.arrayContaining(['new', 'list', 'rotate', 'revoke']));
    expect(after('ask')).toEqual(expect.arrayContaining(['--group', '--json', '--tool-choice', '--strategy']));
    expect(after('serve', '--role')).toEqual([
      ...['filter', 'agent', 'executor', 'audit', 'gateway'],
      'proxy',
      'mcp',
      'notifier',
      'all',
    ]);
    expect(after('tail', '--json', '--topic')).toEqual(allTopics);
    expect(after('completion')).toEqual(['bash', 'zsh']);
    expect(after('check', '--strict')).toEqual(expect.arrayContaining(['--json', 'package.json', 'docs']));
    expect(after('explain', '--config')).toContain('package.json');
    expect(after('ask', '--group')).toEqual([]);
    expect(after('help')).toContain('dead-letters');
  });

  inShell('of the beginning of a word', () => {
    if (shell === 'zsh') return;
    expect(ask.bash(['sluice', 'dead-letters', 're'])).toEqual(['redrive']);
    expect(ask.bash(['sluice', 'check', '--mo'])).toEqual(['--model']);
    expect(ask.bash(['sluice', 'check', 'package.'])).toEqual(['package.json']);
  });
});
