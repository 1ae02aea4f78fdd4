/**
 * A response's body as JSON. Throws an Error in words of its own if it is no JSON, or longer than so many bytes; then
 * no more of it is read.
 */
export async function boundedJson({ body }: Response, bytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    if (read > bytes) throw new Error(`the answer has more than ${bytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new Error('the answer is no JSON');
  }
}
