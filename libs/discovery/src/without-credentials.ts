/** What keys and tokens of common providers look like. */
const credentials = [
  /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\b(sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|AIza)[-_]?[A-Za-z0-9_-]{16,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?/g,
  /\b(api[_-]?key|password|passwd|secret|token)(["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi,
];

/** A text in which `[hidden]` stands for what looks like a credential. */
export function withoutCredentials(text: string): string {
  return credentials.reduce((shown, pattern) => shown.replace(pattern, '[hidden]'), text);
}
