import type { ModelSettings } from '@sluice/core';

/** Looks up an environment variable by its name. */
export type Secret = (variable: string) => string | undefined;

/**
 * The variable's value, without white space at its ends (a trailing newline in a key breaks the header it goes into).
 */
export function requiredSecret(secret: Secret, variable: string, settings: ModelSettings): string {
  const value = secret(variable)?.trim();
  if (value) return value;
  throw new Error(
    `The model provider ${settings.provider} needs a key: set the environment variable ${variable}, or name another one in model.api_key_env.`,
  );
}

export function requiredName(settings: ModelSettings): string {
  if (settings.name) return settings.name;
  throw new Error(`The model provider ${settings.provider} needs a model: set model.name to the provider’s model id.`);
}

/** A base address without the slashes at its end: what follows begins with one. */
export function addressOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '');
}
