import { explore } from "./explore.js";
import { SCENARIOS } from "./scenarios.js";
import type { SwitchName } from "./switches.js";

for (const s of SCENARIOS) {
  for (const off of [null, ...s.aimedAt] as (SwitchName | null)[]) {
    if (process.argv[2] && !s.name.includes(process.argv[2])) continue;
    const r = explore(s, { off }, Number(process.env.MAX ?? 60000));
    console.log(
      s.name,
      "|",
      off,
      r.states + (r.isComplete ? "" : "+"),
      r.transitions,
      Math.round(r.cpuMs),
      r.violation?.fault,
      r.violation?.story.length,
    );
    if (r.violation && (!off || process.argv[3]))
      console.log(r.violation.story.map((x, i) => `   ${i + 1}. ${x}`).join("\n"));
  }
}
