import { neverSent, ToolUnavailableError, ToolUserError } from '@sluice/core';

interface SparqlRequest {
  readonly kind: 'query' | 'update';
  readonly sparql: string;
  readonly accept: string;
}

const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * One request of the SPARQL 1.1 protocol, posted directly. Throws ToolUserError for a text the endpoint calls wrong,
 * ToolUnavailableError if nothing was reached or the endpoint asks to come later, the signal's reason after an abort,
 * and a plain Error if the connection broke after the request was sent.
 */
export async function postSparql(
  endpoint: string,
  { kind, sparql, accept }: SparqlRequest,
  signal: AbortSignal,
): Promise<string> {
  let response: Response;
  let text: string;
  try {
    const headers = { 'content-type': `application/sparql-${kind}; charset=utf-8`, accept };
    response = await fetch(endpoint, { method: 'POST', headers, body: sparql, signal });
    text = await readText(response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolUserError) throw error;
    if (neverSent(error))
      throw new ToolUnavailableError('The knowledge graph’s SPARQL endpoint cannot be reached.', { cause: error });
    throw new Error('The connection to the SPARQL endpoint broke before its answer was there.', { cause: error });
  }
  if (response.ok) return text;
  if (response.status === 400)
    throw new ToolUserError(`The SPARQL endpoint calls the ${kind} wrong: ${text.slice(0, 500).trim()}`);
  // A gateway's answer to an update says nothing about whether it was made; these two say that it was not.
  const busy = kind === 'query' ? [408, 429, 502, 503, 504] : [429, 503];
  if (busy.includes(response.status)) {
    throw new ToolUnavailableError(`The knowledge graph’s SPARQL endpoint is busy (status ${response.status}).`);
  }
  throw new Error(`The SPARQL endpoint answered with status ${response.status}.`);
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const piece of response.body) {
    const chunk = piece as Uint8Array;
    bytes += chunk.byteLength;
    if (bytes > maxAnswerBytes) throw new ToolUserError('The answer is larger than 8 MB. Ask for less, with a LIMIT.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
