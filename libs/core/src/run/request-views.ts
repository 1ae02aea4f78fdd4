import { requestFieldsOfTools } from '../generated/request-views.js';
import type { RequestOfTool } from '../generated/request-views.js';

/** The fields of a request that are there, of those named. */
export function fieldsThere(request: object, names: readonly string[]): readonly (readonly [string, unknown])[] {
  return Object.entries(request).filter(([name, value]) => names.includes(name) && value !== null);
}

/** What the tools of a request’s run see of it, as `seen_by` in its schema says. */
export function requestOfTool(request: object, names: readonly string[] = requestFieldsOfTools): RequestOfTool {
  return Object.fromEntries(fieldsThere(request, names)) as RequestOfTool;
}
