import { modelProviderEntry } from '@sluice/core';
import type { ModelSettings } from '@sluice/core';
import type { AgentResponse } from '@sluice/contracts';
import type { Attributes, SpanOf } from './traces.js';

/** A model's turn, and the hash of what it was asked where there is one. */
export function chatSpan(model: ModelSettings, sessionId: string, promptHash?: string): SpanOf {
  const name = model.name ?? model.provider;
  return {
    name: `chat ${name}`,
    kind: model.provider === 'rules' ? 'internal' : 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': modelProviderEntry(model.provider).telemetryName,
      'gen_ai.request.model': name,
      'gen_ai.request.max_tokens': model.maxOutputTokens,
      'gen_ai.conversation.id': sessionId,
      ...(promptHash === undefined ? {} : { 'sluice.prompt.hash': promptHash }),
      ...addressOf(model.baseUrl),
    },
  };
}

export function usage(tokens: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
}): Attributes {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = tokens;
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    ...(!cachedInputTokens ? {} : { 'gen_ai.usage.cache_read.input_tokens': cachedInputTokens }),
    ...(!cacheWriteTokens ? {} : { 'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens }),
  };
}

/** A tool's call, from the first check to the result. `tool` is null where the model named one that there is not. */
export function toolSpan(
  tool: { readonly key: string; readonly mcp: object | null } | null,
  call: { readonly sessionId: string; readonly iteration: number; readonly toolCallId: string; readonly state: string },
): SpanOf {
  return {
    name: tool === null ? 'execute_tool' : `execute_tool ${tool.key}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.id': call.toolCallId,
      'gen_ai.conversation.id': call.sessionId,
      ...(tool === null
        ? {}
        : { 'gen_ai.tool.name': tool.key, 'gen_ai.tool.type': tool.mcp === null ? 'function' : 'extension' }),
      'sluice.iteration': call.iteration,
      'sluice.state.before': call.state,
    },
  };
}

/**
 * A message to an MCP server. It stands within `execute_tool`, so it does not call itself one: nothing is counted
 * twice.
 */
export function mcpSpan(server: { readonly id: string; readonly url: string | null }, tool: string): SpanOf {
  return {
    name: `tools/call ${tool}`,
    kind: 'client',
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': tool,
      'network.transport': server.url === null ? 'pipe' : 'tcp',
      ...(server.url === null ? {} : { 'network.protocol.name': 'http' }),
      ...addressOf(server.url),
      'sluice.mcp.server': server.id,
    },
  };
}

/** A request to an API with an OpenAPI document. Without its arguments, which an address may hold. */
export function apiSpan(
  server: { readonly id: string; readonly url: string | null },
  { method, path, url = null }: { readonly method: string; readonly path: string; readonly url?: string | null },
): SpanOf {
  return {
    name: `${method} ${path}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.template': path,
      ...addressOf(server.url ?? url),
      'sluice.openapi.server': server.id,
    },
  };
}

/** A whole run, from its first decision to its end. */
export function runAttributes(response: AgentResponse, model: ModelSettings | null): Attributes {
  const { run } = response;
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agentName,
    'gen_ai.conversation.id': response.sessionId,
    ...(model === null
      ? {}
      : {
          'gen_ai.provider.name': modelProviderEntry(model.provider).telemetryName,
          'gen_ai.request.model': model.name ?? model.provider,
        }),
    ...(run === null ? {} : usage(run)),
    'sluice.request.id': response.requestId,
    'sluice.iterations': response.iterations,
    'sluice.config.version': response.configVersion,
    'sluice.state': response.state,
  };
}

/** The key under `agents` in the configuration; there is one. */
export const agentName = 'default';

function addressOf(url: string | null): Attributes {
  if (url === null || !URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) };
}
