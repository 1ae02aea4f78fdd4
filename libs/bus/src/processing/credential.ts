/** The credential that came with a record; header names are compared without case. */
export function credentialOf(headers: Readonly<Record<string, string>>): string | undefined {
  for (const name in headers) if (isCredential(name)) return headers[name];
  return undefined;
}

/** What came with a record, but for the credential: nothing that is shown, exported or kept may hold one. */
export function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name)));
}

function isCredential(header: string): boolean {
  return header.toLowerCase() === 'authorization';
}
