/** What this page’s address may hold. */
export const toolsSearch = (search: Readonly<Record<string, unknown>>): Readonly<Record<string, never>> => {
  void search;
  return {};
};
