/** A page of which tests write the parts between `<!-- name -->` and `<!-- /name -->`: each its own. */
import { readFileSync, writeFileSync } from "node:fs";

export interface PageSection {
  /** What is between the marks. */
  read(): string;
  write(text: string): void;
}

export function pageSection(page: URL, name: string): PageSection {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const parts = (): [string, string, string] => {
    const text = readFileSync(page, "utf8");
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${page.pathname} has no part ${name}`);
    return [text.slice(0, from + begin.length), text.slice(from + begin.length, to), text.slice(to)];
  };
  return {
    read: () => parts()[1],
    write(text) {
      const [before, , after] = parts();
      writeFileSync(page, `${before}${text.trim()}\n${after}`);
    },
  };
}
