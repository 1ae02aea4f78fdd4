import { ToolUserError } from '@sluice/core';
import type { Clock, Documents, ToolInvocationContext } from '@sluice/core';
import type { Passage } from '../document/document.js';
import { NumberedDocuments } from '../kept/numbered.js';

export interface NewSource {
  readonly kind: 'document' | 'web';
  /** The path of a document, the address of a page. */
  readonly location: string;
  /** Of the bytes that were read. */
  readonly sha256: string;
}

interface Source extends NewSource {
  /** Such as S-0001. */
  readonly id: string;
  /** When it was first cited, ISO 8601. */
  readonly since: string;
}

interface NewCitation {
  readonly quote: string;
  readonly place: Passage;
  readonly match: 'exact' | 'typography';
  /** What the quote is evidence of; empty if nothing is said. */
  readonly claim: string;
}

export interface Citation extends NewCitation {
  /** Such as C-0001. */
  readonly id: string;
  readonly source: Source;
  readonly citedAt: string;
}

/**
 * The sources and citations of one user of one tenant, over all sessions. Throws ToolUserError for what the caller
 * can mend, ToolUnavailableError if the store cannot be read, and ToolOutcomeLostError if it broke off in a change.
 */
export interface Citations {
  /** The same source, quote and claim again give the citation that is there. */
  cite(source: NewSource, citation: NewCitation): Promise<Citation>;
  /** In the order in which they were first cited, from the one behind `after` on, from 0. */
  sources(after: number, most: number): Promise<{ readonly sources: readonly Source[]; readonly total: number }>;
  get(id: string): Promise<Citation>;
}

const mostSources = 10_000;
const mostCitations = 9_999;

/** Whose citations a call may use: those of its user, whatever the session. */
export function ownerKey({ tenantId, subjectId, actorId }: ToolInvocationContext): string {
  return JSON.stringify([tenantId, subjectId ?? actorId]);
}

type StoredSource = NewSource & { readonly since: string };
type StoredCitation = NewCitation & { readonly source: number; readonly citedAt: string };

export function citationsIn(documents: Documents, owner: string, clock: Clock): Citations {
  const sources = new NumberedDocuments<StoredSource>(documents, `source/${owner}`, 'list of sources', mostSources);
  const citations = new NumberedDocuments<StoredCitation>(
    documents,
    `citation/${owner}`,
    'list of citations',
    mostCitations,
  );
  const now = (): string => new Date(clock.now()).toISOString();
  const sourceOf = (number: number, stored: StoredSource): Source => ({ id: idOf('S', number), ...stored });

  return {
    cite: async (given, citation) => {
      const key = JSON.stringify([given.kind, given.location, given.sha256]);
      const source = await sources.append(key, { ...given, since: now() });
      const { quote, claim, place } = citation;
      const stored = { ...citation, source: source.number, citedAt: now() };
      const { number, value } = await citations.append(
        JSON.stringify([source.number, quote, claim, place.start]),
        stored,
      );
      return { ...value, id: idOf('C', number), source: sourceOf(source.number, source.value) };
    },
    sources: async (after, most) => {
      const total = await sources.count();
      const found = await sources.list(after, most);
      return { sources: found.map(({ number, value }) => sourceOf(number, value)), total };
    },
    get: async (id) => {
      const number = numberOf(id);
      const stored = number === null ? undefined : await citations.get(number);
      if (number === null || stored === undefined)
        throw new ToolUserError(
          `There is no citation “${id.slice(0, 20)}”. cite_document and cite_web give ids such as C-0001.`,
        );
      const source = await sources.get(stored.source);
      if (source === undefined) throw new ToolUserError(`The source of the citation ${id} is no longer kept.`);
      return { ...stored, id, source: sourceOf(stored.source, source) };
    },
  };
}

function idOf(letter: string, number: number): string {
  return `${letter}-${String(number).padStart(4, '0')}`;
}

function numberOf(id: string): number | null {
  const [, digits] = /^C-(\d{4,5})$/.exec(id) ?? [];
  return digits === undefined ? null : Number(digits);
}
