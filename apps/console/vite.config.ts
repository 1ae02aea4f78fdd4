import { join } from 'node:path';
import { defineConfig } from 'vite';

const root = import.meta.dirname;

/** The console as static files in dist/console, which the gateway serves; its nonce stands where each answer’s goes. */
export default defineConfig({
  root,
  base: '/',
  // A gateway of `npm start` answers what the page asks for while one works on it.
  server: { proxy: { '/v1': { target: 'http://127.0.0.1:8091', changeOrigin: true } } },
  resolve: { alias: { '@sluice/client': join(root, '../../packages/client/src/index.ts') } },
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: join(root, '../../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    reportCompressedSize: false,
    // Packages mark what is for browsers; here everything is.
    rolldownOptions: { checks: { moduleLevelDirective: false, bundlerTimings: false } },
  },
});
