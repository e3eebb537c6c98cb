#nullable enable
using System;
using System.Globalization;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Counts changes of assets, over domain reloads as well. A new Editor session begins at the seconds since the Unix
    /// epoch, so that the count grows over sessions too. Main thread only.
    /// </summary>
    internal sealed class AssetChanges : AssetPostprocessor
    {
        private const string Key = "JobBroker.AssetCounter";

        public static long Count
        {
            get
            {
                var stored = SessionState.GetString(Key, "");
                if (long.TryParse(stored, NumberStyles.None, CultureInfo.InvariantCulture, out var count)) return count;
                return Keep(DateTimeOffset.UtcNow.ToUnixTimeSeconds());
            }
        }

        // Unity calls it by its name, after every import that changed something.
        private static void OnPostprocessAllAssets(
            string[] importedAssets,
            string[] deletedAssets,
            string[] movedAssets,
            string[] movedFromAssetPaths)
        {
            if (importedAssets.Length + deletedAssets.Length + movedAssets.Length > 0) Keep(Count + 1);
        }

        private static long Keep(long count)
        {
            SessionState.SetString(Key, count.ToString(CultureInfo.InvariantCulture));
            return count;
        }
    }
}
