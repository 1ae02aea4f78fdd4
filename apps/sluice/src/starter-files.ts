/** What `sluice init` writes: a configuration, and the rest of a folder that runs. */

interface Starter {
  /** The path of the JSON Schema from the configuration’s folder. */
  readonly schema: string;
  /** Whether a tool of the folder’s own stands beside the configuration. */
  readonly hasTool: boolean;
}

/** A configuration to start from. */
export function starterConfiguration({ schema, hasTool }: Starter): string {
  const folders = hasTool ? 'tool_folders: [./tools]' : '# tool_folders: [./tools]';
  const tool = hasTool
    ? `  # tools/price-with-tax.ts
  price_with_tax:
    type: price_with_tax
    group: [basic]

`
    : '';
  return `# yaml-language-server: $schema=${schema}
# What your agents may use, and when. docs/configuration.md explains every key.

tool:
${tool}  get_current_time:
    type: get_current_time
    # A request names the groups whose tools it may use; without \`group\` a tool is in the group default.
    group: [basic]
    # The states in which it is offered; * is every state. A request begins in its own state, else in \`undefined\`.
    available_in_states: ['*']
    # The state after a successful call; without \`state\` it stays.
    # state: analysis

# Tools of your own: one file each in these folders (docs/writing-a-tool.md).
${folders}

# Tools of an MCP server: \`npx sluice mcp list -- COMMAND …\` shows what it offers, with a block to paste here.
# mcp:
#   servers:
#     files: { command: npx, args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }

# Nothing runs that is not named here.
policy:
  allowed_tools: [${hasTool ? 'price_with_tax, ' : ''}get_current_time]
  # Calls that change something wait for an approval (docs/approvals.md).
  # approval: { approvers: ['user:ann'] }
  # Or say why no approval is needed: approval: { none: they change nothing but a test system }

# The built-in rules need no key and understand little. For a real model, with its key in the environment:
# model: { provider: anthropic, name: claude-sonnet-4-5 }
model: { provider: rules }
`;
}

const tool = `import type { ToolKit } from 'sluice/tool';

const percent = { standard: 8.1, reduced: 2.6 } as const;

/** A tool of your own: docs/writing-a-tool.md says what each part means. */
export default ({ defineTool, z }: ToolKit) =>
  defineTool({
    type: 'price_with_tax',
    description: 'Compute a price with Swiss value-added tax. Example: { "price": 100, "rate": "reduced" }.',
    input: z.object({
      price: z.number().positive().describe('The price without tax, in francs.'),
      rate: z.enum(['standard', 'reduced']).default('standard').describe('The rate of the tax.'),
    }),
    output: z.object({ total: z.number(), tax: z.number() }),
    effect: 'read_only',
    redaction: { fields: ['total', 'tax'] },
    capabilities: [],
    repeatable: true,
    requiresConnection: false,
    execute: ({ price, rate }) => {
      const tax = Math.round(price * percent[rate]) / 100;
      return Promise.resolve({ total: price + tax, tax });
    },
  });
`;

const toolTest = `// Calls the tool as a run does: it is filtered, its arguments are checked, and it runs in a process of its own.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const data = await mkdtemp(join(tmpdir(), 'price-with-tax-'));
after(() => rm(data, { recursive: true, force: true }));

/** The step of the call, as it stands on the log. */
function call(args) {
  const command = ['call', 'price_with_tax', JSON.stringify(args), '--group', 'basic', '--json'];
  const env = { ...process.env, SLUICE_CONFIG: 'sluice.yaml', SLUICE_DATA: data, SLUICE_PORT: '0' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['node_modules/sluice/bin/sluice.mjs', ...command], { env }, (_, output, errors) =>
      output === '' ? reject(new Error(errors)) : resolve(JSON.parse(output)),
    );
  });
}

test('adds the tax', async () => {
  const { outcome, observation } = await call({ price: 250 });
  assert.equal(outcome, 'ok');
  assert.deepEqual(JSON.parse(observation), { total: 270.25, tax: 20.25 });
});

test('refuses a rate that there is not', async () => {
  const { outcome } = await call({ price: 250, rate: 'none' });
  assert.equal(outcome, 'validation');
});
`;

const environment = `# Copy this file to .env, which \`npm start\` reads and git does not. docs/operations.md lists all variables.
SLUICE_CONFIG=sluice.yaml
# Where the log, the ledger and the files of sessions are.
SLUICE_DATA=data
# The key of the model that sluice.yaml names.
# ANTHROPIC_API_KEY=
`;

const compose = `# Sluice in a container: \`npm install\`, then \`docker compose up\`. It prints a link to the console.
services:
  sluice:
    image: node:24-bookworm-slim
    user: node
    working_dir: /app
    command: [node, node_modules/sluice/bin/sluice.mjs, start]
    environment:
      SLUICE_CONFIG: sluice.yaml
      SLUICE_DATA: /var/lib/sluice
      SLUICE_HOST: 0.0.0.0
      # The port below is this machine's alone.
      SLUICE_PUBLISHED_ON_LOOPBACK: 'true'
    env_file: [{ path: .env, required: false }]
    # The log is in ./data, which user 1000 of this machine must be able to write: \`mkdir data\` before the first start.
    volumes: ['./:/app:ro', './data:/var/lib/sluice']
    tmpfs: [/tmp, /home/node]
    ports: ['127.0.0.1:8091:8091']
    init: true
    read_only: true
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
    stop_grace_period: 20s
`;

/** The files of a folder that runs, by their paths. \`package.json\` is merged with one that is there. */
export function starterFolder(schema: string): Readonly<Record<string, string>> {
  return {
    'sluice.yaml': starterConfiguration({ schema, hasTool: true }),
    'tools/price-with-tax.ts': tool,
    'test/price-with-tax.test.mjs': toolTest,
    '.env.example': environment,
    'compose.yml': compose,
    '.gitignore': 'node_modules/\ndata/\n.env\n',
  };
}

/** package.json of the folder: what is written stays, and what is missing is added. */
export function starterPackage(
  written: { readonly scripts?: Readonly<Record<string, string>>; readonly dependencies?: object },
  sluice: string | null,
): object {
  const { test, ...scripts } = written.scripts ?? {};
  const isTestWritten = test !== undefined && !test.includes('no test specified');
  return {
    private: true,
    type: 'module',
    ...written,
    scripts: {
      start: 'node --env-file-if-exists=.env node_modules/sluice/bin/sluice.mjs start',
      ...scripts,
      test: isTestWritten ? test : 'node --test',
    },
    dependencies: { ...(sluice === null ? {} : { sluice }), ...written.dependencies },
  };
}
