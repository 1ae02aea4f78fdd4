const scheme = 'Sluice-Hook ';

/** A delivery as the credential of the request that it makes. */
export interface CarriedDelivery {
  readonly hook: string;
  /** The configuration by which the request was made of it. */
  readonly version: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const isHookCredential = (credential: string | undefined): credential is string =>
  credential?.startsWith(scheme) === true;

export function hookCredential(delivery: CarriedDelivery): string {
  return scheme + JSON.stringify(delivery);
}

/** Null if it is none. */
export function deliveryIn(credential: string): CarriedDelivery | null {
  try {
    const { hook, version, headers, body } = JSON.parse(credential.slice(scheme.length)) as Partial<CarriedDelivery>;
    if (typeof hook !== 'string' || typeof version !== 'string' || typeof body !== 'string') return null;
    const texts = Object.entries(Object(headers) as object).filter(([, value]) => typeof value === 'string');
    return { hook, version, body, headers: Object.fromEntries(texts) as Record<string, string> };
  } catch {
    return null;
  }
}
