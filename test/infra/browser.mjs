import { TestEnvironment } from 'jest-environment-jsdom';

/**
 * Jest’s jsdom for tests of the console’s pages, with what browsers have and jsdom lacks: Node’s own fetch types,
 * streams and encoders, and sizes by which a virtual list draws rows.
 */
const fromNode = [
  ...['fetch', 'Request', 'Response', 'Headers', 'FormData', 'AbortController', 'AbortSignal', 'structuredClone'],
  ...['ReadableStream', 'WritableStream', 'TransformStream', 'TextDecoderStream', 'TextEncoderStream'],
  ...['TextEncoder', 'TextDecoder'],
];

export default class Browser extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const name of fromNode) this.global[name] = globalThis[name];
    const { window } = this.global;
    window.ResizeObserver ??= class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
    window.matchMedia ??= (media) => ({ media, matches: false, addEventListener() {}, removeEventListener() {} });
    window.scrollTo = () => undefined;
    window.HTMLElement.prototype.scrollIntoView ??= () => undefined;
    const sizes = { offsetWidth: 800, offsetHeight: 600, clientHeight: 600 };
    for (const [name, value] of Object.entries(sizes))
      Object.defineProperty(window.HTMLElement.prototype, name, { configurable: true, get: () => value });
    if (window.CSS === undefined) window.CSS = { escape: (text) => text.replace(/[^\w-]/g, '\\$&') };
  }
}
