import { h } from 'vue';
import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

/** Each page is also there as Markdown, under its own name. */
const MarkdownLink = {
  setup() {
    const { page } = useData();
    return () =>
      h('p', { class: 'as-markdown' }, [
        h('a', { href: withBase(`/${page.value.relativePath}`), target: '_self' }, 'This page as Markdown'),
      ]);
  },
};

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(MarkdownLink) }),
};
