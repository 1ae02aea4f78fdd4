import { canonicalJson } from '../json.js';
import { printable } from '../printable.js';
import type { Digest, JsonObject } from '../json.js';
import type { HttpOperation } from './openapi-types.js';

/** A picture of a tool, as MCP has it. */
export interface ToolIcon {
  /** An https address, or the picture itself as a data address. */
  readonly src: string;
  readonly mimeType?: string;
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

/** One tool as its server describes it: a stranger's word, which may be anything. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** For people; absent where the server gives none. */
  readonly title?: string;
  /** Absent where the server gives none that clients can be given. */
  readonly icons?: readonly ToolIcon[];
  /**
   * Why the arguments that it asks for as headers (SEP-2243) cannot be sent so, a sentence each; absent where they
   * can, or no headers are read.
   */
  readonly headerProblems?: readonly string[];
  /** The request that a call is, for an operation of an OpenAPI document; absent for a tool of an MCP server. */
  readonly operation?: HttpOperation;
  /** Why an operation of a document cannot be called, a sentence each; absent where it can. */
  readonly problems?: readonly string[];
}

/** A text of a server that belongs to no tool. */
export interface OfferedText {
  /** As in “the description of its prompt "review"”. */
  readonly of: string;
  readonly text: string;
}

/** What an MCP server offered when it was asked, or why it could not be asked. Two tools of one name are both there. */
export type McpOffer =
  | {
      readonly server: string;
      readonly tools: readonly OfferedTool[];
      /** Why there may be more tools than these, behind “The MCP server …”; absent if these are all. */
      readonly endless?: string;
      /** What else it says of itself: instructions, and what stands beside its prompts and resources. */
      readonly texts?: readonly OfferedText[];
      /** It lets clients subscribe to its resources; absent where it does not. */
      readonly subscribes?: true;
    }
  | { readonly server: string; readonly error: string };

/** Characters of an icon that stands in the configuration itself: each list of tools carries it. */
const longestIcon = 16_384;

const shownIcon = /^(?:https:\/\/[^\s@]+|data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2})$/;

/** Whether clients can be given it as the address of a picture. */
export function isIcon(src: string): boolean {
  return src.length <= longestIcon && shownIcon.test(src);
}

/**
 * What an allowed tool is held to: another description or schema is another tool, also where a simplified one stays
 * the same.
 */
export function pinOf({ description, inputSchema, outputSchema, operation }: OfferedTool, digest: Digest): string {
  const request = operation === undefined ? {} : { operation: operation as unknown as JsonObject };
  return digest(canonicalJson({ description: printable(description), inputSchema, outputSchema, ...request }));
}
