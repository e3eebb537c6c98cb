import { expect, test } from "vitest";
import { storeFault } from "../../../../src/shared/store/connect.js";

const transaction = (message: string, previousErrors: Error[] = []): Error =>
  Object.assign(new Error(message), { previousErrors });

test("a connection that is lost in a transaction is one fault of all its commands: its error names itself", () => {
  const lost = transaction("Connection is closed.");
  Object.assign(lost, { previousErrors: [lost, lost] });
  expect(storeFault(lost)).toMatchObject({ code: "STORE_UNAVAILABLE" });
});

test("what refused a command of a transaction says why the transaction was discarded", () => {
  const full = new Error("OOM command not allowed when used memory > 'maxmemory'.");
  const discarded = transaction("EXECABORT Transaction discarded because of previous errors.", [full]);
  expect(storeFault(discarded)).toMatchObject({ code: "STORE_FULL" });
});

test("an error of the broker's own is no fault of the store", () => {
  expect(storeFault(new TypeError("x is undefined"))).toBeUndefined();
});
