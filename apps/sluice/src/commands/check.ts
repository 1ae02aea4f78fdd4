import { parseArgs } from 'node:util';
import { formatFindings, formatProblems } from '@sluice/core';
import { keyFileProblem } from '@sluice/identity';
import { compileForCommand } from '../system/compile-once.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice check FILE
  Compiles a configuration as the system would, asking the MCP servers of allowed tools what they offer. Exit code 1 if it has mistakes.`;

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`Give one configuration file.\n${usage}`);
  const { write, paint } = surroundings;
  const { configuration, problems, findings } = await compileForCommand(file, surroundings, { keyFileProblem });
  if (configuration === null) {
    write(
      `${paint.bad('✗')} ${file} has ${problems.length === 1 ? 'one mistake' : `${problems.length} mistakes`}:\n${formatProblems(problems)}\n`,
    );
    return 1;
  }
  const allowed = configuration.policy.allowedTools.length;
  write(
    `${paint.good('✓')} ${file}: ${configuration.tools.length} tools, ${allowed} allowed, version ${configuration.version}\n`,
  );
  if (findings.length > 0) write(`${formatFindings(findings)}\n`);
  return 0;
}
