import type { JsonObject } from '../json.js';

/** One tool as its server describes it: a stranger's word, which may be anything. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
}

/** What an MCP server offered when it was asked, or why it could not be asked. Two tools of one name are both there. */
export type McpOffer =
  | {
      readonly server: string;
      readonly tools: readonly OfferedTool[];
      /** Why there may be more tools than these, behind “The MCP server …”; absent if these are all. */
      readonly endless?: string;
    }
  | { readonly server: string; readonly error: string };
