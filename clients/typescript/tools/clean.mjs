// Removes what earlier builds made, so that nothing of a file that is gone gets published.
import { rmSync } from "node:fs";

for (const folder of ["dist", "build"]) rmSync(new URL(`../${folder}`, import.meta.url), { recursive: true, force: true });
