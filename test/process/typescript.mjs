import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Lets a child process run the sources as they are: the libraries’ names, and `.js` for what is `.ts`. */
const libraries = join(import.meta.dirname, '../../libs');

registerHooks({
  resolve(specifier, context, next) {
    const library = /^@sluice\/([a-z]+)$/.exec(specifier)?.[1];
    if (library !== undefined) return next(pathToFileURL(join(libraries, library, 'src/index.ts')).href, context);
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL !== undefined) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
});
