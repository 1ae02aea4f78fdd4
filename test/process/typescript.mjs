import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Lets a child process run the sources as they are: the libraries’ names, and `.js` for what is `.ts`. */
const libraries = join(import.meta.dirname, '../../libs');
const manifest = join(import.meta.dirname, '../../package.json');

registerHooks({
  resolve(specifier, context, next) {
    const library = /^@sluice\/([a-z]+)$/.exec(specifier)?.[1];
    if (library !== undefined) return next(pathToFileURL(join(libraries, library, 'src/index.ts')).href, context);
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL !== undefined) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    // The bundle has the version in it. The process of a tool file may read nothing outside of libs, and needs none.
    if (specifier.endsWith('/package.json') && process.permission?.has('fs.read', manifest) === false)
      return { ...context, url: 'data:application/json,{"version":"unread"}', format: 'json', shortCircuit: true };
    return next(specifier, context);
  },
});
