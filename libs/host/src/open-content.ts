import { openFolderContent, openPostgresContent, openS3Content, readContentKeys } from '@sluice/content';
import type { Clock, ContentStore } from '@sluice/core';
import { contentByDefault } from './content-environment.js';
import type { ContentEnvironment } from './content-environment.js';
import { dataFiles, prepareDataFolder } from './data-folder.js';
import type { Environment } from './environment.js';
import { schemaOf } from './open-stores.js';

type ContentPlaces = Pick<Environment, 'content' | 'databaseUrl' | 'dataFolder' | 'instance' | 'kafka'>;

/**
 * The content store that the environment names. It is opened when it is first used: most processes never do, and one
 * that is away keeps no other work from being done. Throws a sentence at once for keys that are none.
 */
export function openContent(environment: ContentPlaces, clock: Clock): ContentStore {
  const { bucket, maxBytes, keys } = environment.content ?? contentByDefault;
  const given = keys();
  const options = { clock, keys: given === null ? [] : readContentKeys(given), maxBytes };
  let opening: Promise<ContentStore> | undefined;
  const store = (): Promise<ContentStore> =>
    (opening ??= open(environment, bucket, options).catch((error: unknown) => {
      // What could not be opened is tried again at the next use.
      opening = undefined;
      throw error;
    }));
  return {
    put: async (...given) => (await store()).put(...given),
    open: async (...given) => (await store()).open(...given),
    list: async (...given) => (await store()).list(...given),
    remove: async (...given) => (await store()).remove(...given),
    sweep: async (...given) => (await store()).sweep(...given),
    check: async () => (await store()).check(),
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}

function open(
  { databaseUrl, dataFolder, instance, kafka }: ContentPlaces,
  bucket: ContentEnvironment['bucket'],
  options: Parameters<typeof openFolderContent>[1],
): Promise<ContentStore> {
  if (bucket !== null) return openS3Content({ ...bucket, ...options });
  if (databaseUrl !== null)
    return openPostgresContent({ url: databaseUrl, schema: schemaOf(kafka?.prefix ?? ''), instance, ...options });
  prepareDataFolder(dataFolder);
  return openFolderContent(dataFiles({ dataFolder }).content, options);
}
