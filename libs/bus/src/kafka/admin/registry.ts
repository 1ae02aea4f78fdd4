import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { COMPATIBILITY, SchemaRegistry as RegistryClient, SchemaType } from '@kafkajs/confluent-schema-registry';
import { allTopics, subjectOf } from '@sluice/contracts';
import type { SchemaRegistry } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import { within } from '../kafkajs/failure.js';
import type { Names } from '../names.js';
import type { RegistryOptions } from '../options.js';

const answerMs = 10_000;
/** For a check whose caller wants to know the reason. */
const checkMs = 4_000;
const raceAttempts = 20;
const raceMs = 100;

/** Schema numbers in a registry with Confluent’s API. `check` rejects if it cannot be asked now. */
export interface ConfluentRegistry extends SchemaRegistry {
  check(): Promise<void>;
}

/**
 * All methods throw Fault('storage') with a sentence that names the registry’s address; it is retryable unless it was
 * refused.
 */
export function confluentRegistry(options: RegistryOptions, names: Names, clientId: string): ConfluentRegistry {
  const { url, username, password = '', tls, compatibility } = options;
  const client = new RegistryClient({
    host: url,
    clientId,
    retry: { maxRetryTimeInSecs: 2, initialRetryTimeInSecs: 0.1, factor: 0.2, multiplier: 2, retries: 2 },
    ...(username === undefined ? {} : { auth: { username, password } }),
    ...(tls === undefined ? {} : { agent: new Agent({ ...tls, keepAlive: true }) }),
  });

  const silent = (): Fault =>
    new Fault('storage', `The schema registry at ${url} does not answer. Start it again.`, true);
  const ask = async <T>(work: Promise<T>, limitMs = answerMs): Promise<T> => {
    try {
      return await within(limitMs, silent, work);
    } catch (error) {
      throw error instanceof Fault ? error : registryFault(url, error);
    }
  };

  return {
    async register(subject, schema) {
      const register = () =>
        client.register(
          { type: SchemaType.AVRO, schema },
          { subject: names.subject(subject), compatibility: COMPATIBILITY[compatibility] },
        );
      for (let attempt = 1; ; attempt++) {
        try {
          const { id } = await within(answerMs, silent, register());
          if (!Number.isInteger(id)) throw new TypeError('No number came back.');
          return id;
        } catch (error) {
          if (error instanceof Fault) throw error;
          if (attempt >= raceAttempts || !mayBeRace(error)) throw registryFault(url, error);
          await delay(raceMs);
        }
      }
    },
    async find(id) {
      try {
        // avsc gives a type’s schema back when it is written as JSON.
        return JSON.stringify(await within(answerMs, silent, client.getSchema(id)));
      } catch (error) {
        if (error instanceof Fault) throw error;
        // Without a status it was answered, but is not Avro that can be read.
        if (statusOf(error) === 404 || statusOf(error) === undefined) return undefined;
        throw registryFault(url, error);
      }
    },
    async check() {
      const subject = names.subject(subjectOf(allTopics[0] ?? 'agent.requests'));
      await ask(client.getLatestSchemaId(subject), checkMs);
    },
  };
}

/**
 * Processes that start at once all set a new subject's rule: one gets the answer that it exists, another sees it
 * before it is set. A second look a little later finds it done; what stays is a rule that an operator chose.
 */
function mayBeRace(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return (statusOf(error) === 409 && /already exists/i.test(text)) || /Compatibility does not match/.test(text);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

const otherApi =
  'answers, but not as Confluent’s schema registry does. Set SCHEMA_REGISTRY_URL to where that API is; Apicurio has it under /apis/ccompat/v7.';

/** Confluent’s API says in a text why it does not find something; another says nothing, or has another shape. */
function isNoSuchApi(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  const text = error instanceof Error ? error.message : '';
  const isUntold = /\[object |Error, status \d+|<!doctype|<html/i.test(text);
  return (
    status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status) && isUntold && !/E[A-Z]{4,}/.test(text)
  );
}

/** The client reports a registry that is not there as status 400, with the system’s error in the text. */
function registryFault(url: string, error: unknown): Fault {
  const text = error instanceof Error ? error.message : String(error);
  const why = (reason: string, retryable: boolean): Fault =>
    new Fault('storage', `The schema registry at ${url} ${reason}`, retryable, { cause: error });
  // A page of a web server has no status of an error; an API of another kind has no text where this one has it.
  const isOther = error instanceof TypeError || error instanceof SyntaxError;
  if (isOther || isNoSuchApi(error)) return why(otherApi, false);
  switch (statusOf(error)) {
    case 401:
    case 403:
      return why('refuses the credentials. Check registry.username and registry.password.', false);
    case 409:
      return why(`refuses a schema that older readers could not read: ${text}`, false);
    case 422:
      return why(`refuses a schema: ${text}`, false);
    case undefined:
      return why(`cannot be used: ${text}`, false);
    default:
      return /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/.test(text)
        ? why('cannot be reached. Start it, or correct the address.', true)
        : why(`says “${text}”.`, true);
  }
}
