import { test } from "node:test";

test("the code of the README runs", async () => {
  await import("./pages/readme.js");
});

test("the code of the guide runs from top to bottom", async () => {
  await import("./pages/howto.js");
});
