import { parseExactJson, redactArguments } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Principal, StepContent } from '@sluice/contracts';
import type { EntryKind } from './kinds.js';

/** What is said of a record, before it is put in its chain. */
export interface EntryDraft {
  readonly kind: string;
  readonly requestId: string;
  readonly sessionId: string;
  /** The configuration of the decision, '' where there was none. */
  readonly configVersion: string;
  /** A JSON object. */
  readonly details: string;
}

/** What is asked of a configuration about a tool. */
export interface AuditedTool {
  readonly id: string;
  readonly groups: readonly string[];
  readonly inputSchema: JsonObject | null;
}

/** The tool that a configuration version has under a key; undefined if the version or the tool is not known. */
export type ToolLookup = (configVersion: string, key: string) => AuditedTool | undefined;

/** What is known about a record beyond what it says. */
export interface Facts {
  readonly tools: ToolLookup;
  /**
   * Whether filter or executor signed what they sign of it; true where there is no signature. What is false here is
   * forged.
   */
  readonly authentic: boolean;
}

/** Longest text of a model, a tool or a person that an entry repeats, UTF-16 units; its hash stands for all of it. */
const longestText = 4_000;
/** Longest details, bytes in UTF-8; beyond it a hash stands for them. */
const longestDetails = 500_000;
/** Longest id that an entry repeats, UTF-16 units: a request’s sender may have written anything. */
const longestId = 1_000;

export function draftEntry(
  kind: EntryKind,
  { requestId = '', sessionId = '', configVersion = '' }: Partial<Omit<EntryDraft, 'kind' | 'details'>>,
  details: JsonObject,
): EntryDraft {
  const text = JSON.stringify(details);
  const bytes = Buffer.byteLength(text);
  const kept = bytes <= longestDetails ? text : JSON.stringify({ too_long: bytes, hash: sha256(text) });
  const short = (id: string): string => id.slice(0, longestId);
  return {
    kind,
    requestId: short(requestId),
    sessionId: short(sessionId),
    configVersion: short(configVersion),
    details: kept,
  };
}

export function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}

/** Content by name: an entry says what there was, also when the content itself is gone. */
export function contentOf(content: readonly StepContent[] | null): JsonObject {
  if (content === null || content.length === 0) return {};
  return { content: content.map(({ hash, type, size, kind, name }) => ({ hash, type, size, kind, name })) };
}

export function time(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
}

/** Who asks, as a verified credential said; empty where none was asked for. */
export function caller(principal: Principal | null): JsonObject {
  if (principal === null) return { actor: null, tenant: null, subject: null };
  return { actor: principal.actorId, tenant: principal.tenantId, subject: principal.subjectId };
}

/**
 * A call’s arguments without what the tool’s schema calls secret, and the SHA-256 of them as the model wrote them. Of
 * a tool that is not known, and of a text that is no JSON, nothing but the hash is kept: the secret parts of it are
 * unknown.
 */
export function argumentsOf(written: string, tool: AuditedTool | undefined): JsonObject {
  const hash = { arguments_hash: sha256(written) };
  if (tool === undefined || tool.inputSchema === null) return { arguments: null, ...hash };
  try {
    const redacted = redactArguments(parseExactJson(written), tool.inputSchema);
    return { arguments: cut(JSON.stringify(redacted)), ...hash };
  } catch {
    return { arguments: null, ...hash };
  }
}
