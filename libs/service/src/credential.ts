/** The credential that came with a record; header names are compared without case. */
export function credentialOf(headers: Readonly<Record<string, string>>): string | undefined {
  for (const name in headers) if (name.toLowerCase() === 'authorization') return headers[name];
  return undefined;
}
