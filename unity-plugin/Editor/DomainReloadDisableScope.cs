#nullable enable
using System.Globalization;
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Lets the Editor enter Play Mode without a domain reload, which would cut a PlayMode run, and puts the project's
    /// own choice back. That choice is kept in the session store: a reload in between must not lose it. Main thread
    /// only.
    /// </summary>
    internal sealed class DomainReloadDisableScope
    {
        private const string Key = "JobBroker.EnterPlayModeOptions";

        private readonly ISessionStore store;

        public DomainReloadDisableScope(ISessionStore store)
        {
            this.store = store;
        }

        public void Enter()
        {
            if (store.Get(Key) == null)
            {
                var enabled = EditorSettings.enterPlayModeOptionsEnabled ? "1" : "0";
                var options = (int)EditorSettings.enterPlayModeOptions;
                store.Set(Key, enabled + options.ToString(CultureInfo.InvariantCulture));
            }
            EditorSettings.enterPlayModeOptionsEnabled = true;
            EditorSettings.enterPlayModeOptions = EnterPlayModeOptions.DisableDomainReload;
        }

        /// <summary>Puts back what was there; nothing happens without <see cref="Enter"/>.</summary>
        public void Restore()
        {
            var kept = store.Get(Key);
            if (kept == null) return;
            EditorSettings.enterPlayModeOptions =
                (EnterPlayModeOptions)int.Parse(kept.Substring(1), CultureInfo.InvariantCulture);
            EditorSettings.enterPlayModeOptionsEnabled = kept[0] == '1';
            store.Set(Key, null);
        }
    }
}
