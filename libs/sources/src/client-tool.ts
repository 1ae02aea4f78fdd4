import type { BoundTool, Configuration, ConfiguredTool, ToolSource } from '@sluice/core';
import { ToolTimeoutError, ToolUserError, ToolWaitsError } from '@sluice/core';
import { redact, schemaInput, specOf } from '@sluice/tools';

/** What a call of a client’s tool is given in place of a way to run it. */
export interface FromClient {
  /** `waits` before the client has heard of the call; null where it gave nothing in time. */
  readonly result: 'waits' | null | { readonly text: string; readonly isError: boolean };
}

/** The tools of the configuration, and those that the client of the run brought. */
export function withClientTools(source: ToolSource, { tools }: Configuration): ToolSource {
  const own = new Map(tools.filter(({ isClients }) => isClients === true).map((tool) => [tool.id, bound(tool)]));
  if (own.size === 0) return source;
  return {
    getBoundTool: (id) => own.get(id) ?? source.getBoundTool(id),
    listToolSpecs: () => [...source.listToolSpecs(), ...[...own.values()].map(({ spec }) => spec)],
  };
}

/** A tool that only its client can run: a call of it waits for the client, and ends with what that gave. */
function bound(tool: ConfiguredTool): BoundTool {
  const spec = specOf(tool);
  return Object.freeze({
    ...{ id: tool.id, spec, effect: spec.effect, requiresConnection: false, capabilities: ['client'] },
    repeatable: tool.repeatable,
    validateInput: schemaInput(tool),
    exec: (args, _, capabilities) => {
      const { result } = (capabilities as { readonly client: FromClient }).client;
      if (result === 'waits') return Promise.reject(new ToolWaitsError({ arguments: args }));
      if (result === null) return Promise.reject(new ToolTimeoutError('The client gave no result in time.'));
      if (result.isError) return Promise.reject(new ToolUserError(result.text));
      return Promise.resolve(result.text);
    },
    validateOutput: (output) => String(output),
    redact: (output) => redact(spec.redaction, output),
  } satisfies BoundTool);
}
