import { isJsonObject, ToolOutput } from '@sluice/core';
import type { BoundTool, ConfiguredTool, JsonObject, JsonValue, McpToolRef, ToolCapabilities } from '@sluice/core';
import { jsonSchemaOutput, readReconciled, redact, schemaInput, specOf } from '@sluice/tools';
import type { OwnAuth, ServiceCapabilities } from '@sluice/tools';
import type { CallAnswers, McpCredential, McpHub } from '@sluice/hub';

/** `answers`: who answers what the server asks in the middle of the call. */
const open: readonly string[] = Object.freeze(['cancellation', 'idempotency', 'progress', 'answers']);
const authenticated: readonly string[] = Object.freeze([...open, 'auth']);

/** One tool of an MCP server, or one operation of an OpenAPI document, behind the same methods as any other. */
export function bindMcpTool(tool: ConfiguredTool, hub: McpHub): BoundTool {
  const spec = specOf(tool);
  const { mcp, timeoutMs, connection } = tool;
  const capabilities = connection === undefined ? open : authenticated;
  if (mcp === null)
    throw new Error(`The tool ${tool.id} is of type ${tool.type} and names no server; bind it in the configuration.`);
  const ungiven = (): Error =>
    new Error(`The tool ${tool.id} was run without the capabilities it declares: ${capabilities.join(', ')}.`);
  const call = async (
    called: Pick<McpToolRef, 'tool' | 'pin' | 'kind' | 'operation'>,
    args: JsonObject,
    connectionId: string | undefined,
    granted: ToolCapabilities,
    keyOf: (key: string) => string,
    onAnswer?: (answer: JsonObject) => void,
  ): Promise<JsonValue> => {
    const { cancellation, idempotency, progress, auth, answers } = granted as Partial<
      ServiceCapabilities & { readonly answers: CallAnswers }
    >;
    if (cancellation === undefined || idempotency === undefined || (connection !== undefined && auth === undefined))
      throw ungiven();
    const { signal } = cancellation;
    const { kind, operation } = called;
    const what = {
      pin: called.pin,
      ...(kind === undefined ? {} : { kind }),
      ...(operation === undefined ? {} : { operation }),
      ...(answers === undefined || onAnswer === undefined ? {} : { answers }),
      // Where the redaction names fields, what is passed on stays in them, bytes too.
      ...(onAnswer === undefined || (kind !== undefined && !isWhole) ? {} : { onAnswer }),
      ...(onAnswer === undefined || blocks === undefined ? {} : { blocks }),
      ...(progress === undefined ? {} : { caller: progress.caller, onNotice: progress.relay }),
    };
    const options = { signal, idempotencyKey: keyOf(idempotency.key), timeoutMs, ...what };
    if (auth === undefined || connectionId === undefined) return hub.call(mcp.server, called.tool, args, options);
    const credential = await shown(auth, connectionId);
    return hub.call(mcp.server, called.tool, args, { ...options, credential });
  };
  const { reconcile, content } = mcp;
  const isWhole = 'whole' in spec.redaction;
  const blocks = content === undefined ? undefined : { kinds: content, besides: !isWhole };
  return Object.freeze({
    id: tool.id,
    spec,
    effect: spec.effect,
    requiresConnection: connection !== undefined,
    capabilities,
    repeatable: tool.repeatable || spec.effect === 'read_only',
    ...(mcp.cacheMs === undefined ? {} : { cacheMs: mcp.cacheMs }),
    validateInput: schemaInput(tool),
    ...(mcp.operation === undefined
      ? {
          connect: async ({ connectionId }, granted, withinMs) => {
            const { cancellation, auth } = granted as Partial<ServiceCapabilities>;
            if (cancellation === undefined || (connection !== undefined && auth === undefined)) throw ungiven();
            const { signal } = cancellation;
            const options = { signal, timeoutMs: withinMs, pin: mcp.pin };
            if (auth === undefined || connectionId === undefined) return hub.connect(mcp.server, mcp.tool, options);
            return hub.connect(mcp.server, mcp.tool, { ...options, credential: await shown(auth, connectionId) });
          },
        }
      : {}),
    exec: async (args, { connectionId }, granted) => {
      const heard: JsonObject[] = [];
      const own = isJsonObject(args) ? args : {};
      const value = await call(
        mcp,
        own,
        connectionId,
        granted,
        (key) => key,
        (answer) => void heard.push(answer),
      );
      // Of a call that was sent again, the last answer is the one that counts.
      const answer = heard.at(-1);
      return answer === undefined ? value : new ToolOutput(value, answer);
    },
    ...(reconcile === undefined
      ? {}
      : {
          reconcile: async (args, { key, connectionId }, granted) => {
            // A call of its own: under the key of the first the server might give that one’s answer again.
            const asked = { key, arguments: args };
            return readReconciled(await call(reconcile, asked, connectionId, granted, (own) => `${own}/reconcile`));
          },
        }),
    validateOutput: jsonSchemaOutput(mcp.outputSchema),
    redact: (output) => redact(spec.redaction, output),
    ...(blocks?.besides === true ? { redactAnswer: around } : {}),
  } satisfies BoundTool);
}

/** An answer of the value that the redaction leaves, and the blocks beside it. */
function around(answer: JsonObject, value: JsonValue): JsonObject {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [{ type: 'text', text }, ...(answer['content'] as readonly JsonObject[])];
  return isJsonObject(value) ? { content, structuredContent: value } : { content };
}

/** What the call shows the server; the hub alone sees it. */
async function shown(auth: OwnAuth, connectionId: string): Promise<McpCredential> {
  const token = await auth.forServer(connectionId);
  return {
    token,
    renew: async () => ((await auth.renew(connectionId)) ? auth.forServer(connectionId) : null),
  };
}
