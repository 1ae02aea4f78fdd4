import { createHash } from 'node:crypto';
import { canonicalJson } from '@sluice/core';
import type {
  Configuration,
  ConfiguredTool,
  JsonObject,
  Redaction,
  ToolInvocationContext,
  ToolSpec,
} from '@sluice/core';
import type { ToolContract } from '@sluice/tools';

/** A tool as the compiler would leave it. */
export function configured(contract: ToolContract, changes: Partial<ConfiguredTool> = {}): ConfiguredTool {
  const id = `core__${contract.type}`;
  const { description, inputSchema, redaction, effect } = contract;
  return {
    ...bare(contract.type, id, contract.type),
    spec: specOf(id, description, inputSchema, redaction, effect),
    ...changes,
  };
}

export function configuredMcp(
  server: string,
  tool: string,
  inputSchema: JsonObject,
  redaction: Redaction,
): ConfiguredTool {
  const id = `mcp__${server}__${tool}`;
  return {
    ...bare(tool, id, 'mcp-tool'),
    spec: specOf(id, 'a tool', inputSchema, redaction, 'external_side_effect'),
    mcp: { server, tool, served: `${server}___${tool}`, pin: null, outputSchema: null },
  };
}

export function configurationOf(
  tools: readonly ConfiguredTool[],
  allowedTools = tools.map(({ id }) => id),
): Configuration {
  return {
    version: 'c-test',
    tools,
    identity: { provider: 'none' },
    policy: {
      allowedTools,
      approvalEffects: [],
      approvers: [],
      approvalMs: 1,
      requesterMayNotApprove: false,
      budgets: { callsPerRun: null, tools: {} },
    },
    authorization: null,
    instructions: '',
    model: { provider: 'rules', name: null, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
    mcpServers: [],
    knowledge: { load: [], endpoint: null, updateEndpoint: null },
    limits: { maxIterations: 1, runMs: 1, toolMs: 1, modelMs: 1, historyBytes: 1, argumentBytes: 1, resultBytes: 1 },
  };
}

export const context: ToolInvocationContext = {
  runId: 'run',
  sessionId: 'session',
  toolCallId: 'call',
  actorId: 'user:test',
  tenantId: 'tenant',
};

export function patience(): AbortSignal {
  return new AbortController().signal;
}

function bare(key: string, id: string, type: string): ConfiguredTool {
  const open = { groups: ['default'], states: ['*'], target: null, spec: null };
  return {
    key,
    id,
    type,
    title: key,
    description: key,
    ...open,
    repeatable: false,
    timeoutMs: 5_000,
    mcp: null,
    unavailable: 'no reason',
  };
}

function specOf(
  name: string,
  description: string,
  inputSchema: JsonObject,
  redaction: Redaction,
  effect: ToolSpec['effect'],
): ToolSpec {
  const schemaHash = sha256(canonicalJson(inputSchema));
  return { name, description, inputSchema, redaction, effect, schemaHash };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
