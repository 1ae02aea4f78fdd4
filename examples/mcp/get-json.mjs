/**
 * Errors say whose turn it is: the caller’s, the operator’s, or just another try. The messages never repeat the
 * address, which may hold a key.
 */
const timeoutMs = 5_000;
const largestBody = 262_144;

const again = 'Please try again.';
const denied = 'Access denied. This operation requires additional permissions.';

/**
 * The JSON that an address answers with, null where it says that there is no such thing (404). Redirects are not
 * followed: a credential in the request belongs to the address that the operator wrote.
 */
export async function getJson(url, headers = {}) {
  let response;
  try {
    response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const { status } = response;
    if (status === 404) return null;
    if (status === 401 || status === 403)
      throw new Refusal(`${denied} The operator must give this server a valid key.`);
    if (status === 429) throw new Refusal(`The external service is busy (429). Please wait a minute and try again.`);
    if (status !== 200) throw new Refusal(`The external service failed (${status}). ${again}`);
    return parse(await textOf(response));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error.name === 'TimeoutError')
      throw new Error(`Network timeout while connecting to external service. ${again}`, { cause: error });
    throw new Error(`The external service cannot be reached. ${again}`, { cause: error });
  } finally {
    if (response?.body?.locked === false) await response.body.cancel();
  }
}

class Refusal extends Error {}

async function textOf(response) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > largestBody) throw new Refusal(`The external service answered with more than ${largestBody} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(`The external service did not answer with JSON. ${again}`, { cause: error });
  }
}
