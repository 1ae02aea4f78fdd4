import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { getJson } from '../get-json.mjs';

const configuration = z.strictObject({
  /** `{location}` stands for the location, `{key}` for the key. */
  url: z
    .string()
    .regex(/^https?:\/\/[^{}/]+\//)
    .includes('{location}'),
  /** The environment variable that holds the key. */
  key_env: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  /** By the name that the model reads, the path in the service’s answer: names and numbers, with dots between. */
  fields: z.record(z.string(), z.string()).refine((fields) => Object.keys(fields).length > 0),
});

/**
 * Where weather comes from: a service that a file describes, or the sample data. Throws a sentence for the operator.
 */
export function openSource(file, environment = process.env) {
  return file === undefined ? sampleData() : service(readConfiguration(file), environment);
}

function service({ url, key_env: keyName, headers, fields }, environment) {
  const key = keyName === undefined ? '' : environment[keyName];
  if (key === undefined) throw new Error(`Set ${keyName} to the key of the weather service.`);
  const put = (text, location) => text.replaceAll('{location}', location).replaceAll('{key}', encodeURIComponent(key));
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{key}', () => key)]),
  );
  return {
    name: new URL(put(url, 'here')).host,
    lookUp: async (location) => {
      const found = await getJson(put(url, encodeURIComponent(location)), sent);
      if (found === null)
        throw new Error(`There is no weather for ${location}. Please provide the name of a city, or coordinates.`);
      return Object.fromEntries(Object.entries(fields).map(([name, path]) => [name, valueAt(found, path)]));
    },
  };
}

function sampleData() {
  const cities = JSON.parse(readFileSync(new URL('sample-data.json', import.meta.url), 'utf8'));
  return {
    name: 'sample data',
    lookUp: async (location) => {
      const city = Object.keys(cities).find((name) => name.toLowerCase() === location.toLowerCase());
      if (city === undefined)
        throw new Error(
          `There is no sample data for ${location}. Please provide one of ${Object.keys(cities).join(', ')}.`,
        );
      return cities[city];
    },
  };
}

/** What stands there, if it is a plain value; null otherwise. */
function valueAt(found, path) {
  const value = path
    .split('.')
    .reduce((at, name) => (at !== null && typeof at === 'object' && Object.hasOwn(at, name) ? at[name] : null), found);
  return typeof value === 'object' ? null : value;
}

function readConfiguration(file) {
  let text;
  try {
    text = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON. Name a file that describes the weather service.`, {
      cause: error,
    });
  }
  const read = configuration.safeParse(text);
  if (!read.success) throw new Error(`${file} does not describe a weather service:\n${z.prettifyError(read.error)}`);
  return read.data;
}
