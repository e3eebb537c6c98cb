/** The declared arguments of `completion`. */

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const completion = {
  meta: {
    name: "completion",
    description: "Prints what makes a shell complete commands, options, tools, Editors and log_ids",
  },
  args: {
    shell: { type: "positional", description: SHELLS.join(", "), required: true },
    line: { type: "positional", description: "For these scripts: the line typed so far", required: false },
  },
} as const;
