import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { CommandContext } from './command-context.js';

export const usage = `sluice init [FILE]
  Writes a configuration to start from, sluice.yaml unless named: one tool that needs no key, and the rest as comments to fill in. Editors
  check it by the schema that its first line names. Never replaces a file.`;

/** Where the schema of the configuration stands in the project. */
export const schemaFile = 'schemas/configuration.schema.json';

export function run(args: readonly string[], { write, paint, root }: CommandContext): Promise<number> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [file = 'sluice.yaml', ...more] = positionals;
  if (more.length > 0) throw new Error(`Name one file.\n${usage}`);
  if (existsSync(file)) throw new Error(`${file} is there already, and stays as it is. Name another file.`);
  const folder = dirname(resolve(file));
  const schema = relative(folder, join(root, schemaFile)).replaceAll('\\', '/');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, beginning(schema), { flag: 'wx' });
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  write(`${paint.good('✓')} ${file} is written. Then:\n`);
  write(`  npx sluice check ${file}\n`);
  write(`  SLUICE_CONFIG=${file} npx sluice ask "What time is it?" --group basic\n`);
  write(`  SLUICE_CONFIG=${file} npm start                 serves it, and reads it again whenever you save it\n`);
  return Promise.resolve(0);
}

function beginning(schema: string): string {
  return `# yaml-language-server: $schema=${schema}
# What your agents may use, and when. docs/configuration.md explains every key.

tool:
  get_current_time:
    type: get_current_time
    # A request names the groups whose tools it may use; without \`group\` a tool is in the group default.
    group: [basic]
    # The states in which it is offered; * is every state. A request begins in its own state, else in \`undefined\`.
    available_in_states: ['*']
    # The state after a successful call; without \`state\` it stays.
    # state: analysis

# Tools of your own: one file each in these folders (docs/writing-a-tool.md).
# tool_folders: [./tools]

# Tools of an MCP server: \`npx sluice mcp list -- COMMAND …\` shows what it offers, with a block to paste here.
# mcp:
#   servers:
#     files: { command: npx, args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }

# Nothing runs that is not named here.
policy:
  allowed_tools: [get_current_time]
  # Calls that change something wait for an approval (docs/approvals.md).
  # approval: { approvers: ['user:ann'] }
  # Or say why no approval is needed: approval: { none: they change nothing but a test system }

# The built-in rules need no key and understand little. For a real model, with its key in the environment:
# model: { provider: anthropic, name: claude-sonnet-4-5 }
model: { provider: rules }
`;
}
