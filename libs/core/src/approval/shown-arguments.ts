import { parseExactJson } from '../exact-json.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { redactArguments, redacted } from './redact-arguments.js';

/** The arguments of a call as callers read them, by the tool’s id or key. */
export type ShownArguments = (tool: string, written: string) => string;

export const asWritten: ShownArguments = (_, written) => written;

/**
 * Without what the tool’s schema calls secret (`writeOnly`, `format: password`), as its approver sees them; other
 * arguments stay as they were written.
 */
export function shownArguments(tools: readonly Pick<ConfiguredTool, 'id' | 'key' | 'spec'>[]): ShownArguments {
  const schemas = new Map(
    tools.flatMap(({ id, key, spec }) => {
      const schema = spec?.inputSchema;
      return schema !== undefined && hides.test(JSON.stringify(schema))
        ? ([
            [id, schema],
            [key, schema],
          ] as const)
        : [];
    }),
  );
  return (tool, written) => {
    const schema = schemas.get(tool);
    if (schema === undefined || written === '') return written;
    try {
      return JSON.stringify(redactArguments(parseExactJson(written), schema));
    } catch {
      // Which part of a text that is no JSON is the secret is unknown.
      return redacted;
    }
  };
}

const hides = /"writeOnly":true|"format":"password"/;
