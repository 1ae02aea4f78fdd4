import { anchorOf } from './markdown.mjs';
import { isLookedUp, navigation, readSite } from './pages.mjs';
import { projectRoot, workFolder } from './folders.mjs';

const { pages } = readSite(projectRoot);
const sidebar = navigation(pages);

/** The site: its pages are those that bin/docs.mjs has put into the work folder. */
export default {
  title: 'Sluice',
  description: 'An event-driven tool plane for LLM agents: who may use which tool, in which state, and why.',
  lang: 'en',
  srcDir: workFolder,
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  cacheDir: `${projectRoot}/node_modules/.cache/vitepress`,
  ignoreDeadLinks: 'localhostLinks',
  transformHead: ({ siteData }) => [['link', { rel: 'icon', href: `${siteData.base}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Braces in a page are text: they are no attributes, and no expressions of Vue.
    attrs: { disable: true },
    config: (md) => {
      for (const rule of ['text', 'code_inline']) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
      }
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    sidebar,
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Install', link: '/install' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'API', link: '/reference/api/' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    outline: { level: [2, 3], label: 'On this page' },
    search: {
      provider: 'local',
      options: {
        // What is looked up would stand before what explains.
        _render: (source, env, md) => {
          const html = md.render(source, env);
          return isLookedUp(env.relativePath) ? '' : html;
        },
        miniSearch: {
          searchOptions: {
            boost: { title: 8, titles: 2, text: 1 },
            prefix: true,
            fuzzy: 0.1,
            // A page that explains a word stands before lists of fields that have it.
            boostDocument: (id) => (/\/(?:reference\/api|tools)\//.test(id) ? 0.2 : 1),
          },
        },
      },
    },
    docFooter: { prev: 'Before', next: 'Next' },
  },
};
