import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Pages as VitePress reads them: those of docs/ with their links as the site has them, and generated ones. */
export const workFolder = join(projectRoot, 'dist', 'site-pages');

export const siteFolder = join(projectRoot, 'dist', 'site');
