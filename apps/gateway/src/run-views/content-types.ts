/** Types that no browser runs anything of, and the ends of their files’ names. */
const harmless: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'audio/flac': 'flac',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'text/plain': 'txt',
};

function known(type: string): string | null {
  const bare = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(harmless, bare) ? bare : null;
}

/** What content is served as: a tool that calls a page an image gets no page shown, nor an image with scripts. */
export function servedType(type: string): string {
  const bare = known(type);
  if (bare === null) return 'application/octet-stream';
  return bare === 'text/plain' || bare === 'application/json' ? `${bare}; charset=utf-8` : bare;
}

export function extensionOf(type: string): string {
  return harmless[known(type) ?? ''] ?? 'bin';
}
