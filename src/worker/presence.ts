/** Tells the store that an Editor is there, and remembers where it stands. */
import type { EditorMark } from "../shared/operation.js";
import type { EditorLive, EditorProfile } from "../shared/redis/editors.js";
import type { Store } from "../shared/redis/store.js";
import type { Heartbeat, HelloResult } from "../shared/wire.js";

export interface Presence {
  introduce(hello: HelloResult): Promise<void>;
  heard(heartbeat: Heartbeat): Promise<void>;
  lost(): Promise<void>;
  mark(): EditorMark | undefined;
}

export function createPresence(store: Store, editorId: string): Presence {
  let profile: EditorProfile | undefined;
  let isHere = false;

  /** Not after `lost`: a heartbeat that was still being handled then would bring the Editor back. */
  const alive = async (live: EditorLive): Promise<void> => {
    const now = await store.operations.now();
    if (isHere) await store.editors.alive(editorId, live, now);
  };

  return {
    async introduce(hello) {
      isHere = true;
      const { projectName, projectPath, unityVersion, pid, editorSessionId, generation, assetCounter } =
        hello;
      profile = {
        editorId,
        projectName,
        projectPath,
        unityVersion,
        pid,
        editorSessionId,
        generation,
        assetCounter,
        ...(hello.plain === true ? { plain: true as const } : {}),
      };
      await store.editors.introduce(profile);
      // Present from hello on, not from the first heartbeat a second later.
      await alive({ phase: hello.phase, mainThreadStallMs: 0, queued: hello.open.length });
    },

    async heard(heartbeat) {
      const { phase, mainThreadStallMs, queued, runningOperationId, generation } = heartbeat;
      const assetCounter = heartbeat.assetCounter ?? profile?.assetCounter ?? 0;
      if (profile && (profile.generation !== generation || profile.assetCounter !== assetCounter)) {
        profile = { ...profile, generation, assetCounter };
        await store.editors.introduce(profile);
      }
      const running = runningOperationId === undefined ? {} : { runningOperationId };
      await alive({ phase, mainThreadStallMs, queued, ...running });
    },

    async lost() {
      isHere = false;
      await store.editors.gone(editorId);
    },

    mark() {
      // A plain Editor does not tell where it stands: then nobody says that it has not changed since.
      if (!profile || profile.plain) return undefined;
      const { editorSessionId, generation, assetCounter } = profile;
      return { editorSessionId, generation, assetCounter };
    },
  };
}
