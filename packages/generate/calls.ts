import { nameOf } from './description.ts';
import type { Description, Operation, Schema } from './description.ts';

/** A method of the clients that asks for one operation, as both generators write it. */
export interface ClientCall {
  /** In camel case, as is `method`. */
  readonly resource: string;
  readonly method: string;
  readonly doc: string;
  readonly verb: string;
  /** With `{name}` for what stands in its place. */
  readonly path: string;
  /** What must be given: the path’s places, then what the query may not leave out. */
  readonly places: readonly string[];
  readonly required: readonly string[];
  /** The type of the rest of the query; null where there is none. */
  readonly query: string | null;
  /** Of the query, what the caller does not choose. */
  readonly taken: readonly string[];
  readonly isFormatted: boolean;
  readonly body: string | null;
  readonly answer: string;
  /** Where the answer is a page: its list, what is in it, and by which parameter the next one is asked for. */
  readonly page: { readonly items: string; readonly item: string; readonly next: string; readonly by: string } | null;
  readonly isRepeatable: boolean;
}

/**
 * The methods that follow from the description; those that do more than ask are written by hand, and have no
 * `x-sluice-client`.
 */
export function clientCalls({ paths, components: { schemas } }: Description): readonly ClientCall[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([verb, operation]) => callOf(path, verb, operation, schemas) ?? []),
  );
}

function callOf(
  path: string,
  verb: string,
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
): ClientCall | null {
  const { 'x-sluice-client': client, operationId: id, parameters = [], summary, description } = operation;
  if (client === undefined) return null;
  const [resource = '', method = ''] = client.method.split('.');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const required = inQuery.filter((parameter) => parameter.required === true).map(({ name }) => name);
  const answer = jsonOf(Object.values(operation.responses)[0]);
  if (answer === null) throw new Error(`${id} answers no JSON, so its clients’ method is written by hand.`);
  const page = pageOf(schemas[answer]);
  const isFormatted = inQuery.some(({ name }) => name === 'format');
  const taken = [...required, ...(page === null ? [] : [page.by]), ...(isFormatted ? ['format'] : [])];
  const isAllTaken = inQuery.every(({ name }) => taken.includes(name));
  return {
    ...{ resource, method, doc: description ?? `${summary}.`, verb: verb.toUpperCase(), path, required, taken, answer },
    ...{ page, isFormatted },
    places: parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
    query: isAllTaken ? null : `${id.charAt(0).toUpperCase()}${id.slice(1)}Query`,
    body: jsonOf(operation.requestBody),
    isRepeatable: verb === 'get' || client.isRepeatable === true,
  };
}

function jsonOf(holder: Operation['requestBody']): string | null {
  const ref = holder?.content?.['application/json']?.schema.$ref;
  return ref === undefined ? null : nameOf(ref);
}

function pageOf({ properties = {} }: Schema = {}): ClientCall['page'] {
  const next = Object.keys(properties).find((name) => name.startsWith('next_'));
  const [items, list] = Object.entries(properties).find(([, { type }]) => type === 'array') ?? [];
  if (next === undefined || items === undefined || list?.items?.$ref === undefined) return null;
  return { items, item: nameOf(list.items.$ref), next, by: next.slice('next_'.length) };
}

/** By resource, in the order of the description. */
export function byResource(calls: readonly ClientCall[]): ReadonlyMap<string, readonly ClientCall[]> {
  return Map.groupBy(calls, ({ resource }) => resource);
}

/** Resources with methods that are written by hand: what is generated of them is what the written class extends. */
export const writtenResources = ['runs', 'approvals', 'groups', 'states', 'audit'];

export function classOf(resource: string): string {
  const name = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`;
  return writtenResources.includes(resource) ? `${name}Calls` : name;
}
