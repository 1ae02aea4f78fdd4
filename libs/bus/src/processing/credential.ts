/** Says whose a request is once its credential is gone or sealed: a hash, which proves nothing by itself. */
export const senderHeader = 'sluice-sender';

/** What begins a credential that is sealed to the service that verifies it. */
export const sealedScheme = 'Sealed ';

/** The credential that came with a record; header names are compared without case. Undefined where it is gone. */
export function credentialOf(headers: Readonly<Record<string, string>>): string | undefined {
  for (const name in headers) if (isCredential(name)) return headers[name] || undefined;
  return undefined;
}

/** Whether the record had a credential, and a consumer that needed it has let it go. */
export function isCredentialGone(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(([name, value]) => isCredential(name) && value === '');
}

/** What came with a record, but for the credential: nothing that is shown, exported or kept may hold one. */
export function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name)));
}

/**
 * The headers with the credential blanked, so that one still sees that there was one, and with whose it was. Null
 * where there is nothing to blank.
 */
export function blanked(
  headers: Readonly<Record<string, string>>,
  sender: string | null,
): Readonly<Record<string, string>> | null {
  if (credentialOf(headers) === undefined) return null;
  const left = Object.entries(headers).map(([name, value]) => [name, isCredential(name) ? '' : value]);
  return { ...Object.fromEntries(left), ...(sender === null ? {} : { [senderHeader]: sender }) };
}

function isCredential(header: string): boolean {
  return header.toLowerCase() === 'authorization';
}
