import type { ProxyApi, ProxySettings, UpstreamSettings } from '@sluice/core';

/** Where a request goes, and as which model. */
export interface Target {
  readonly upstream: UpstreamSettings;
  /** What the upstream is to call the model; null where the request stays as it is. */
  readonly model: string | null;
}

/** Upstreams tried for one request, at most. */
const mostTargets = 8;

/**
 * The upstreams of a request in the order in which they are tried: where the model’s own entry says, else the first
 * that fits, then those of its fallbacks. None where nothing fits.
 */
export function targetsOf(
  settings: ProxySettings,
  request: { readonly api: ProxyApi; readonly path: string; readonly model: string | null },
): readonly Target[] {
  const fits = ({ api, paths }: UpstreamSettings): boolean =>
    api === request.api && (paths.length === 0 || paths.some((beginning) => request.path.startsWith(beginning)));
  const candidates = settings.upstreams.filter(fits);
  const of = (upstream: string | null, model: string): Target[] => {
    const found =
      upstream === null
        ? candidates.find(({ models }) => models.length === 0 || models.some((pattern) => isLike(model, pattern)))
        : candidates.find(({ id }) => id === upstream);
    return found === undefined ? [] : [{ upstream: found, model: model === request.model ? null : model }];
  };
  if (request.model === null) return candidates.slice(0, 1).map((upstream) => ({ upstream, model: null }));
  const targets: Target[] = [];
  const seen = new Set<string>();
  const add = (name: string): void => {
    if (seen.has(name) || targets.length >= mostTargets) return;
    seen.add(name);
    const entry = settings.models.find((model) => model.name === name);
    targets.push(...of(entry?.upstream ?? null, entry?.model ?? name));
    for (const other of entry?.fallback ?? []) add(other);
  };
  add(request.model);
  return targets;
}

/** Whether it depends on a request's model where it goes: only then a body is read for its name. */
export function routesByModel({ models, upstreams }: ProxySettings): boolean {
  return models.length > 0 || upstreams.some((upstream) => upstream.models.length > 0);
}

/** Whether a name is like a pattern in which `*` stands for any characters. In time that grows with both alone. */
function isLike(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return name === pattern;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > name.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

/** Answers after which the next upstream is tried. */
export function isWorthAnother(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
