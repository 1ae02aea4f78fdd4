import type { NativeSearchKind } from '@sluice/core';
import { applyEdits, addMember, editItems } from './json/edit.js';
import { type Body, readBody } from './json/body.js';
import { JsonSpan } from './json/span.js';
import type { TurnPart } from './types.js';

/** A provider’s own search of tools that are sent and not shown: the model asks for it, and the provider answers. */
export interface NativeSearch {
  /** The tool that stands for it, as its wire writes it. */
  readonly tool: string;
  /** What the provider wants in the header `anthropic-beta`; null for nothing. */
  readonly betaHeader: string | null;
  /** What it wants in the body’s list `anthropic_beta`; null for nothing. */
  readonly betaInBody: string | null;
}

/** What a search is wanted with. */
export interface NativeSearchWish {
  readonly kind: NativeSearchKind;
  /** Takes any model’s word for it that it has one. */
  readonly isSure: boolean;
}

/** Why there is none. */
export type NoNativeSearch = 'unsupported_wire' | 'unsupported_model';

/** Whether a request has its provider’s search already: then its client chooses which tools are shown. */
export function hasNativeSearch(request: JsonSpan): boolean {
  const tools = request.member('tools');
  const isIn = (): boolean => tools?.items.some((tool) => isSearch(tool.member('type')?.string ?? '')) ?? false;
  return tools?.repeated?.once('native search', isIn) ?? isIn();
}

function isSearch(type: string): boolean {
  return type === 'tool_search' || type.startsWith('tool_search_tool_');
}

/** The body with a word in its list `anthropic_beta`, once. */
export function withBeta(body: Body, word: string): string {
  const root = readBody(body);
  const list = root.member('anthropic_beta');
  const text = JSON.stringify(word);
  if (list?.isArray !== true) return applyEdits(root, [addMember(root, 'anthropic_beta', `[${text}]`)]);
  if (list.items.some((item) => item.string === word)) return applyEdits(root, []);
  return applyEdits(
    root,
    editItems(list, () => true, { behind: [text] }),
  );
}

/** A search that a provider answered: what was asked, as far as it says, and the names of the tools that it showed. */
export interface AnsweredSearch {
  readonly query: string;
  readonly found: readonly string[];
}

/** The searches in a turn that its provider answered, in order. */
export function answeredSearches(parts: readonly TurnPart[]): readonly AnsweredSearch[] {
  const searches: AnsweredSearch[] = [];
  let query = '';
  for (const part of parts) {
    if (part.type !== 'other') continue;
    const block = spanOf(part.raw);
    switch (part.kind) {
      case 'server_tool_use':
        if (block?.member('name')?.string?.startsWith('tool_search_tool_') === true)
          query = queryIn(block.member('input'));
        break;
      case 'tool_search_call':
        query = queryIn(block?.member('arguments'));
        break;
      case 'tool_search_tool_result': {
        const references = block?.member('content')?.member('tool_references')?.items ?? [];
        searches.push({ query, found: references.flatMap((one) => one.member('tool_name')?.string ?? []) });
        query = '';
        break;
      }
      case 'tool_search_output':
        searches.push({ query, found: (block?.member('tools')?.items ?? []).flatMap(namesIn) });
        query = '';
        break;
      default:
    }
  }
  return searches;
}

function spanOf(raw: string): JsonSpan | null {
  try {
    return JsonSpan.of(raw);
  } catch {
    return null;
  }
}

/** Anthropic’s tools take a `query` or a `pattern`, OpenAI’s says what it likes. */
function queryIn(input: JsonSpan | undefined): string {
  return (input?.member('query') ?? input?.member('pattern'))?.string ?? input?.string ?? '';
}

/** A namespace of OpenAI’s holds tools. */
function namesIn(tool: JsonSpan): readonly string[] {
  const inner = tool.member('tools');
  return inner === undefined
    ? [tool.member('name')?.string ?? ''].filter((name) => name !== '')
    : inner.items.flatMap(namesIn);
}
