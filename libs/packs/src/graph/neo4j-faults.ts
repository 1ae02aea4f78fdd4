import { ToolUnavailableError, ToolUserError } from '@sluice/core';

/** How a Neo4j server is reached. */
export interface Neo4jAddress {
  /** `neo4j://` or `bolt://`, with `+s` for TLS. */
  readonly url: string;
  readonly user: string;
  /** The variable with the password. */
  readonly passwordEnv: string;
  readonly database: string;
}

interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Whether the server says that user and password are not the right ones. */
export function isRefusedLogin(error: unknown): boolean {
  return codeOf(error).startsWith('Neo.ClientError.Security.') && !codeOf(error).endsWith('.Forbidden');
}

/**
 * Maps a failure of the driver or the server: ToolUserError for a wrong query, else ToolUnavailableError with a cause
 * that tells an operator what to do.
 */
export function faultOf(error: unknown, place: Neo4jAddress): Error {
  if (error instanceof ToolUserError || error instanceof ToolUnavailableError) return error;
  const code = codeOf(error);
  const said = wordsOf(error);
  if (code === 'Neo.ClientError.Statement.AccessMode')
    return new ToolUserError('The query changes the graph, and only reading is allowed here.');
  if (code.startsWith('Neo.ClientError.Transaction.TransactionTimedOut'))
    return new ToolUserError('The query takes too long. Narrow it down.');
  if (code === 'Neo.ClientError.Schema.ConstraintValidationFailed')
    return new ToolUserError(`The graph does not take it: ${said}`);
  if (/^Neo\.ClientError\.(Statement|Schema|Procedure)\./.test(code))
    return new ToolUserError(`The query cannot be answered: ${said}`);
  if (code.startsWith('Neo.TransientError.General.MemoryPoolOutOfMemory') || /TransactionOutOfMemory/.test(code))
    return new ToolUserError('The query needs more memory than the server gives it. Narrow it down.');
  return new ToolUnavailableError('The graph cannot be used.', { cause: new Error(sentence(code, said, place)) });
}

/** For the log: what is wrong, and what to do. */
export function sentenceOf(error: unknown, place: Neo4jAddress): string {
  if (error instanceof ToolUnavailableError && error.cause instanceof Error) return error.cause.message;
  return sentence(codeOf(error), wordsOf(error), place);
}

function sentence(code: string, said: string, { url, user, passwordEnv, database }: Neo4jAddress): string {
  if (code === 'Neo.ClientError.Security.Forbidden')
    return `The user ${user} of the Neo4j server at ${url} may not do this in the database ${database} (${said}): grant it the right, or set graph.neo4j.user to a user who has it.`;
  if (code.startsWith('Neo.ClientError.Security.'))
    return `The Neo4j server at ${url} refused the user ${user} with the password in ${passwordEnv} (${said}): set graph.neo4j.user and that variable to what the server knows.`;
  if (code === 'Neo.ClientError.Database.DatabaseNotFound')
    return `The Neo4j server at ${url} has no database ${database}: create it, or set graph.neo4j.database or graph.neo4j.databases to one that is there.`;
  if (code === 'ServiceUnavailable' || code === 'SessionExpired' || code === '')
    return `No Neo4j server answers at ${url} (${said}): start it, or set graph.neo4j.url, and graph.neo4j.ca_file where its certificate is of an authority of your own.`;
  return `The Neo4j server at ${url} failed (${code}: ${said}).`;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as DriverError;
  return typeof code === 'string' ? code : '';
}

/** The first line of what was said; of a driver that could not connect, the cause alone. */
function wordsOf(error: unknown): string {
  const { message } = (error ?? {}) as DriverError;
  const text = typeof message === 'string' ? message : String(error);
  const [first = ''] = text.split('\n');
  return (/Caused by: (.+)/.exec(first)?.[1] ?? first).slice(0, 300);
}
