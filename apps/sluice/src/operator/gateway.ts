import { printable } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { ownToken, readLocalSecret } from '@sluice/host';
import type { Environment } from '@sluice/host';

/** What-if goes through the records of a day. */
const timeoutMs = 120_000;

/** The gateway did not do what was asked; the message says why, and what to do. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal';
}

/** The gateway’s API for the caller of SLUICE_TOKEN, or where none is given, of the local secret. */
export class Gateway {
  constructor(
    private readonly url: string,
    private readonly environment: Environment,
  ) {}

  get(path: string, query: Readonly<Record<string, string | number | undefined>> = {}): Promise<JsonObject> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    return this.send(`${path}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`, {});
  }

  post(path: string, body: object): Promise<JsonObject> {
    const headers = { 'content-type': 'application/json' };
    return this.send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  private async send(path: string, init: RequestInit): Promise<JsonObject> {
    const token = this.token();
    const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = {
      accept: 'application/json',
      ...(init.headers as Record<string, string> | undefined),
      ...credential,
    };
    const response = await this.fetched(path, { ...init, headers });
    const answer = (await response.json().catch(() => ({}))) as JsonObject;
    if (response.ok) return answer;
    throw new GatewayRefusal(`${saidBy(answer, response.status)}${this.remedy(response.status, token)}`);
  }

  private async fetched(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.url}${path}`, { ...init, signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    } catch (error) {
      const { message } = (error as { cause?: Error }).cause ?? (error as Error);
      throw new GatewayRefusal(
        `No gateway answers at ${this.url} (${message}). Start Sluice, or say with --url where its gateway is.`,
        { cause: error },
      );
    }
  }

  /** The local secret is for this machine alone. It is read again each time: a first start makes it. */
  private token(): string | undefined {
    const given = ownToken(this.environment);
    if (given !== undefined || !isHere(this.url)) return given;
    return readLocalSecret(this.environment);
  }

  private remedy(status: number, token: string | undefined): string {
    if (status !== 401 && status !== 403) return '';
    if (token === undefined) return ' Set SLUICE_TOKEN, or SLUICE_DATA to the data folder of the services.';
    return ' SLUICE_TOKEN must be the credential of an operator; without an identity SLUICE_DATA names the local secret.';
  }
}

function isHere(url: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname);
}

function saidBy({ detail, title, problems }: JsonObject, status: number): string {
  const said =
    [detail, title].find((one): one is string => typeof one === 'string') ?? `The gateway answered ${status}.`;
  const more: JsonValue = problems ?? null;
  return printable(`${said}${more === null ? '' : ` ${JSON.stringify(more).slice(0, 2_000)}`}`);
}
