/**
 * How a credential may be written where it should not stand: as it is, in JSON, in an address, in base 64. All have
 * eight characters or more.
 */
export function formsOf(token: string): readonly string[] {
  const bytes = Buffer.from(token, 'utf8');
  const base64 = bytes.toString('base64');
  return [
    ...new Set([
      token,
      JSON.stringify(token).slice(1, -1),
      encodeURIComponent(token),
      base64,
      base64.replace(/=+$/, ''),
      bytes.toString('base64url'),
    ]),
  ];
}
