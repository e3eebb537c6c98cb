/** Whose endpoint files are believed, and what is said of the others. */
import { expect, test } from "vitest";
import { diagnoseFile, problemOfRights } from "../../../../src/shared/editors/refused-endpoint.js";

const rights = { uid: 1000, mode: 0o100600, folderUid: 1000 };

test.each([
  ["this user's own", rights, 1000, undefined],
  ["one that others may only read: its owner's all the same", { ...rights, mode: 0o100644 }, 1000, undefined],
  ["another user's", { ...rights, uid: 1001 }, 1000, "another_owner"],
  ["another user's in that user's folder", { ...rights, uid: 1001, folderUid: 1001 }, 1000, "another_owner"],
  ["root's, for another user", { ...rights, uid: 0 }, 1000, "another_owner"],
  ["another user's, for root", { ...rights, folderUid: 0 }, 0, "another_owner"],
  ["that of the folder's owner, whom root serves", rights, 0, undefined],
  ["one that its group may write", { ...rights, mode: 0o100660 }, 1000, "writable"],
  ["one that all may write", { ...rights, mode: 0o100602 }, 1000, "writable"],
  ["where users have no numbers", { ...rights, uid: 0, mode: 0o100666 }, undefined, undefined],
] as const)("%s", (_, given, uid, problem) => {
  expect(problemOfRights(given, uid)).toBe(problem);
});

test("the diagnosis says which file, that nothing was sent, and the command that fixes it", () => {
  const file = { path: "/home/ann/editors/shop@1.json", editorId: "shop@1", fix: "rm '/home/ann/x'" };
  for (const why of ["another_owner", "writable", "another_host"] as const) {
    const { code, message, next } = diagnoseFile({ ...file, why });
    expect(code).toBe("ENDPOINT_REFUSED");
    expect(message).toContain(file.path);
    expect(message).toContain("nothing was sent there");
    expect(next).toContain(file.fix);
  }
});
