// Makes programs of the TypeScript on the pages, in test/pages: they are compiled and run with the tests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
const out = new URL("../test/pages/", import.meta.url);
const pages = { readme: "clients/typescript/README.md", howto: "docs/how-to/use-from-typescript.md" };

mkdirSync(out, { recursive: true });
for (const [name, path] of Object.entries(pages)) {
  const text = readFileSync(new URL(path, root), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map((block) => block[1]);
  if (blocks.length === 0) throw new Error(`${path} has no TypeScript`);
  writeFileSync(new URL(`${name}.ts`, out), blocks.join("\n"));
}
