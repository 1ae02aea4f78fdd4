import type { Job, Request } from './job.js';

/** Tokens of a text. */
export type Count = (text: string) => number;

export interface Cost {
  /** Tokens of definitions in a request, on average over the job. */
  readonly perRequest: number;
  /** Tokens of definitions and of what the approach left in the conversation, over all requests of the job. */
  readonly job: number;
  /**
   * The share of these that a provider may read from its cache: what stands at the same place as in the request
   * before.
   */
  readonly cacheable: number;
  /** The job in tokens that are paid in full, where reading the cache costs a tenth and writing it a quarter more. */
  readonly priced: number;
}

const reading = 0.1;
const writing = 1.25;

/** What a job costs in tokens, without the work that is the same whatever the approach. */
export function costOf({ requests }: Job, count: Count): Cost {
  const sum = (texts: readonly string[]): number => texts.reduce((all, text) => all + count(text), 0);
  let [definitions, job, cached] = [0, 0, 0];
  requests.forEach((request, at) => {
    definitions += sum(request.definitions);
    job += sum(request.definitions) + sum(request.left);
    const earlier = requests[at - 1];
    if (earlier !== undefined) cached += sum(commonBeginning(earlier, request));
  });
  return {
    perRequest: definitions / Math.max(1, requests.length),
    job,
    cacheable: job === 0 ? 0 : cached / job,
    priced: cached * reading + (job - cached) * writing,
  };
}

/**
 * A cache holds the beginning of a prompt: what is left in the conversation counts only where all definitions are the
 * same.
 */
function commonBeginning(earlier: Request, later: Request): readonly string[] {
  const tools = common(earlier.definitions, later.definitions);
  const isWhole = tools.length === later.definitions.length && tools.length === earlier.definitions.length;
  return isWhole ? [...tools, ...common(earlier.left, later.left)] : tools;
}

function common(earlier: readonly string[], later: readonly string[]): readonly string[] {
  const differs = later.findIndex((text, at) => text !== earlier[at]);
  return differs === -1 ? later : later.slice(0, differs);
}
