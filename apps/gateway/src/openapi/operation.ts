import type { Example } from './example.js';

/**
 * Whom an operation admits: `anyone`, without a credential; a `caller`, who needs the local secret where no identity is
 * configured; an `asker`, a caller who needs no secret then; by the `link` of a run, a caller for whom the link's token
 * is enough then; an `operator`, whom `identity.operators` names.
 */
export type Who = 'anyone' | 'asker' | 'caller' | 'link' | 'operator';

/** A route of the gateway, as its description has it. */
export interface Operation {
  readonly id: string;
  /**
   * The method of the TypeScript client that asks for it, as `resource.method`, and in snake case that of the Python
   * client; null for none.
   */
  readonly client: string | null;
  /** Where that method does more than ask for it: each client has it written by hand. Others are generated. */
  readonly isWritten?: true;
  /** Of a POST: whether it does no harm twice, so that clients send it again where no answer came. */
  readonly isRepeatable?: true;
  /** The place in the path that takes several of its segments. */
  readonly deepPlace?: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{name}` for what stands in its place. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What stands in the path’s places, and what it means. */
  readonly places?: Readonly<Record<string, string>>;
  /** The parameters of the query, by the table that the gateway reads them by. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The schema of the body. */
  readonly body?: string;
  readonly isBodyOptional?: true;
  /** What the body is, where it is a file. */
  readonly fileBody?: string;
  /** By status: what it means, and the schema of its JSON or another form. */
  readonly answers: Readonly<Record<number, Answer>>;
  readonly example: Example;
  /** Statuses of refusals. */
  readonly refusals: readonly number[];
  /** Whether its answers have a tag, by which a caller that has one already is answered without a body. */
  readonly isTagged?: true;
  /** Whom it admits; a guard before its handler holds that (`rights.ts`). */
  readonly who: Who;
}

export interface Answer {
  readonly meaning: string;
  /** A schema’s name for JSON, and by media type what else there is. */
  readonly json?: string;
  readonly others?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer 200 with JSON of this schema. */
export const json = (name: string, meaning: string): Readonly<Record<number, Answer>> => ({
  200: { meaning, json: name },
});
