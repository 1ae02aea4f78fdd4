/** A response's body as text; null as soon as it is larger than so many bytes, and then no more of it is read. */
export async function boundedText({ body }: Response, bytes: number): Promise<string | null> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    if (read > bytes) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
