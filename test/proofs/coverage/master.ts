/**
 * Which tests show what: each schedule that ran something twice in an earlier draft, and each cell of the recovery table.
 * An indented line is a test: its file below test/, and its title as it stands there.
 */

export const SCHEDULES = `
A: the answer goes to nobody, and the re-issue is taken for a deliberate run
  proofs/never-twice/scenarios/stories.ts: schedule A: the answer to #1 goes to nobody, #2 is not taken for a deliberate run
  proofs/never-twice/scenarios/stories.ts: schedule A with any other message in between
  proofs/never-twice/scenarios/stories.ts: over stdio: the client's time is over as the answer is written, and it calls again
B: an older request comes late
  system/mcp/request-tracker.test.ts: a call that is cancelled before its turn came does not begin, and the next one does
  system/mcp/mcp-stdio.test.ts: schedule B: arrival orders the calls, not their ids
C: a forced call times out and is sent again
  proofs/never-twice/scenarios/stories.ts: schedule C: a force_new that timed out and is sent again as it was
D: \`after\` computed at sending
  proofs/schedules/store-goes-back.test.ts: schedule D: the retry, made before the Editor tells of the first run, does not run
E: \`after\` not compared for equality
  proofs/schedules/store-goes-back.test.ts: schedule E: only the revoked one before it is remembered; the retry is the run that was forgotten
F: the retry of an expired retry
  proofs/schedules/store-goes-back.test.ts: schedule F: the retry expired unsent; the retry of the retry is the run that was forgotten
G: a forced run takes the outcome of what it supersedes
  proofs/schedules/store-goes-back.test.ts: schedule G: a forced run does not take the old outcome of what it supersedes
H: the store goes back, the same id goes to another member
  comes with pools
I: every member has revoked it
  comes with pools
J: a frame that is read after its operation was given away
  system/editor/stalled-editor.test.ts: schedule J: it stands still with the frame in its buffer; its worker is replaced; it reads on
  system/editor/stalled-editor.test.ts: schedule J: a frame that is lost on the way is unknown to the next session: revoked there, and only then interrupted
K: claimed in one session, sent in the next
  proofs/schedules/editor-sessions.test.ts: schedule K: claimed for one session, sent in the next, the connection lost: it runs on and is not given up
  proofs/schedules/editor-sessions.test.ts: schedule K: sent in one session and lost, unknown in the next: revoked there, then interrupted
L: the Editor's ledger is restored from an older copy
  system/worker/ledger-loss.test.ts: schedule L: to when a running call was only accepted: unknown, and not run again
  system/worker/ledger-loss.test.ts: schedule L: nobody heard that it began, but the store has seen later entries
  proofs/cells/editor-rows.test.ts: ledger lost or rolled back · running: interrupted, it is not sent again
M: the store's epoch goes back
  proofs/schedules/store-goes-back.test.ts: schedule M: the rightful owner is refused once, and raises it
  proofs/schedules/store-goes-back.test.ts: schedule M: of two owners with the same epoch one is left
N: an automatic client repeats what was interrupted
  proofs/never-twice/scenarios/scenarios-kills.ts: retry after interrupted
O: jobs added manually
  proofs/never-twice/scenarios/scenarios-manual-jobs.ts: job added manually
P: a job that was not yet removed swallows the next
  system/worker/worker-jobs.test.ts: a job that BullMQ has not yet removed never swallows the next operation of the same call
Q: a retry without an Editor after the first one died
  proofs/schedules/editor-sessions.test.ts: schedule Q: Editor 1 died in the middle, Editor 2 appeared; the retry without an Editor is the first call
R: set A, set B, set A
  system/broker/broker.test.ts: set A, set B, set A: the second A sees B and runs
S: an answer that nobody received, and an hour
  proofs/never-twice.test.ts: schedule S: an answer that nobody received is replayed however late the retry comes
T: ids that differ beyond 2^53
  system/broker/broker-input.test.ts: integers whose digits are lost already, wherever they are
U: a bridge without a ledger, the store forgets that it was sent
  system/uloop/plain-editor.test.ts: U: and the store forgets that it was sent: the id in sent.log is not sent
V: acknowledged to the Editor, lost by the store
  proofs/schedules/store-goes-back.test.ts: schedule V: the Editor still has it, and it is stored again
`;

export const CELLS = `
client or gateway dies · queued
  proofs/cells/client-or-gateway-dies.test.ts: client or gateway dies · queued: stays, runs once
client or gateway dies · sent
  proofs/cells/client-or-gateway-dies.test.ts: client or gateway dies · sent: stays, runs once
client or gateway dies · running
  proofs/cells/client-or-gateway-dies.test.ts: client or gateway dies · running: goes on, its end is stored
client or gateway dies · finished
  proofs/cells/client-or-gateway-dies.test.ts: client or gateway dies · finished: every caller that asks gets the stored result
  proofs/never-twice/scenarios/scenarios-broker.ts: the background broker is killed
worker dies or hangs · queued
  proofs/cells/worker-dies.test.ts: worker dies or hangs · queued: the next owner runs it once
  proofs/cells/worker-dies.test.ts: worker hangs · queued: as after its death, and the one that wakes gives way
worker dies or hangs · sent
  proofs/cells/worker-dies.test.ts: worker dies or hangs · sent: the next owner submits the same id and attaches
  proofs/cells/worker-dies.test.ts: worker stops · sent: as after its death, and the one that wakes gives way
worker dies or hangs · running
  proofs/cells/worker-dies.test.ts: worker dies or hangs · running: the next owner attaches
  proofs/cells/worker-dies.test.ts: worker stops · running: as after its death, and the one that wakes gives way
  proofs/cells/worker-dies.test.ts: worker hangs · running: as after its death, and the one that wakes gives way
  system/cli/background-broker.test.ts: is started again, and the open call is answered: executed once
worker dies or hangs · finished
  proofs/cells/worker-dies.test.ts: worker dies or hangs · finished: the next owner collects it from the ledger
  proofs/cells/worker-dies.test.ts: worker hangs · finished: as after its death, and the one that wakes gives way
Redis restarts (AOF) · queued
  system/worker/recovery.test.ts: while calls wait: each runs once, in order
Redis restarts (AOF) · sent
  proofs/cells/redis.test.ts: Redis restarts · sent: the same id is submitted again, and attaches
Redis restarts (AOF) · running
  proofs/cells/redis.test.ts: Redis restarts · running: goes on, and progress catches up
Redis restarts (AOF) · finished
  proofs/cells/redis.test.ts: Redis restarts · finished: stored again, and acknowledged
Redis loses its last seconds, is restored, is flushed · queued
  proofs/cells/redis.test.ts: Redis goes back · queued: lost before it was sent, so the retry creates it, and it runs once
Redis loses its last seconds, is restored, is flushed · sent
  proofs/cells/redis.test.ts: Redis goes back · sent: the retry is the same execution
Redis loses its last seconds, is restored, is flushed · running
  proofs/cells/redis.test.ts: Redis goes back · running: the retry is the same execution
  system/worker/ledger-loss.test.ts: flushed while it runs: the same log_id goes on, the same call joins it
Redis loses its last seconds, is restored, is flushed · finished
  proofs/cells/redis.test.ts: Redis goes back · finished: the retry gets the same outcome
  system/worker/ledger-loss.test.ts: flushed while nobody worked: the outcome is reported by the Editor, under its log_id
  system/uloop/plain-editor.test.ts: and the store forgets the whole operation: its retry is the same call, and unknown
connection to the Editor lost · queued
  proofs/cells/editor-rows.test.ts: connection to the Editor lost · queued: stays, runs once
connection to the Editor lost · sent
  proofs/cells/editor-rows.test.ts: connection to the Editor lost · sent: the same id again attaches
connection to the Editor lost · running
  proofs/cells/editor-rows.test.ts: connection to the Editor lost · running: goes on
connection to the Editor lost · finished
  proofs/cells/editor-rows.test.ts: connection to the Editor lost · finished: reported again after hello
domain reload · queued
  proofs/cells/editor-rows.test.ts: domain reload · queued: stays, runs once
domain reload · sent
  proofs/cells/editor-rows.test.ts: domain reload · sent: the Editor queues it again itself, the same id attaches
domain reload · running
  proofs/cells/editor-rows.test.ts: domain reload · running: a resumable tool goes on
  proofs/cells/editor-rows.test.ts: domain reload · running: any other is interrupted, and the same call gets that answer again
domain reload · finished
  proofs/cells/editor-rows.test.ts: domain reload · finished: reported again after hello
Editor crash or quit · queued
  proofs/cells/editor-rows.test.ts: Editor crash or quit · queued: the next session of the project runs it once
  proofs/cells/editor-quits.test.ts: Editor crash or quit · queued: after a quit too
Editor crash or quit · sent
  proofs/cells/editor-rows.test.ts: Editor crash or quit · sent: not started, so it is queued again and runs once
  system/worker/worker-recovery.test.ts: before it began, and has forgotten the call: unknown, never called not started
  proofs/cells/editor-quits.test.ts: Editor crash or quit · sent: refused by an Editor that quits, so it is queued again and runs once
Editor crash or quit · running
  proofs/cells/editor-rows.test.ts: Editor crash or quit · running: interrupted, and the same call gets that answer again
  proofs/cells/editor-quits.test.ts: Editor crash or quit · running: after a quit too
Editor crash or quit · finished
  proofs/cells/editor-rows.test.ts: Editor crash or quit · finished: reported by the next session
  proofs/cells/editor-quits.test.ts: Editor crash or quit · finished: after a quit too
ledger lost or rolled back · queued
  proofs/cells/editor-rows.test.ts: ledger lost or rolled back · queued: stays, runs once
ledger lost or rolled back · sent
  proofs/cells/editor-rows.test.ts: ledger lost or rolled back · sent: interrupted, it is not sent again
  system/worker/ledger-loss.test.ts: schedule L: nobody heard that it began, but the store has seen later entries
ledger lost or rolled back · running
  proofs/cells/editor-rows.test.ts: ledger lost or rolled back · running: interrupted, it is not sent again
  system/worker/ledger-loss.test.ts: schedule L: to when a running call was only accepted: unknown, and not run again
ledger lost or rolled back · finished
  proofs/cells/editor-rows.test.ts: ledger lost or rolled back · finished: the broker's record decides
bridge without a ledger loses its connection · queued
  system/uloop/plain-editor.test.ts: what waited behind another call was not written down, and runs
bridge without a ledger loses its connection · sent
  proofs/cells/plain-editor.test.ts: bridge without a ledger · sent: interrupted, although it never arrived
  system/uloop/plain-editor.test.ts: a read is sent again
bridge without a ledger loses its connection · running
  system/uloop/plain-editor.test.ts: behind a call that may have changed something: unknown, with evidence, and never sent again
bridge without a ledger loses its connection · finished
  proofs/cells/plain-editor.test.ts: bridge without a ledger · finished: interrupted, its answer was never heard
`;
