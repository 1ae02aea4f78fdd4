import { at, number, recordsOf, text } from './observed.ts';
import type { Found, Observed } from './observed.ts';

/**
 * A turn whose record does not name its tools itself, since an earlier iteration has the same, finds them there; and
 * the model’s turn has the list of its Toolset. Records of former versions have all tools written out, and no list.
 */
export function lists({ found, spoiled }: Pick<Observed, 'found' | 'spoiled'>): readonly string[] {
  const copies = new Set(spoiled.map(at));
  const listed = (topic: string): Listed[] =>
    recordsOf(found, topic)
      .filter((one) => !copies.has(at(one)))
      .flatMap((one) => listedIn(one.record, one));
  const toolsets = listed('agent.toolsets');
  const named = new Set(toolsets.filter(({ iteration, since }) => iteration === since).map(nameOf));
  const offered = new Set(toolsets.map(({ run, hash, iteration }) => [run, hash, iteration].join()));
  return [
    ...toolsets
      .filter((one) => !named.has(nameOf(one)))
      .map(({ place, since }) => `${place} says that turn ${since} names its tools, and it does not.`),
    ...listed('agent.tool-calls')
      .filter(({ run, hash, iteration }) => !offered.has([run, hash, iteration].join()))
      .map(({ place }) => `${place} has another list of tools than its Toolset.`),
  ];
}

interface Listed {
  readonly place: string;
  readonly run: string;
  readonly iteration: number;
  readonly hash: string;
  readonly since: number;
}

const nameOf = ({ run, hash, since }: Listed): string => [run, hash, since].join();

function listedIn(record: Readonly<Record<string, unknown>>, one: Found): readonly Listed[] {
  const list = record['list'] as Readonly<Record<string, unknown>> | null | undefined;
  if (list === null || list === undefined) return [];
  const of = { run: text(record, 'request_id'), iteration: number(record, 'iteration') };
  return [{ ...of, place: at(one), hash: text(list, 'hash'), since: number(list, 'since') }];
}
