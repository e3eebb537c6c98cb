#nullable disable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace UnityEditor.Search
{
    [Flags]
    public enum SearchFlags
    {
        None = 0,
        Synchronous = 1,
#if UNITY_6000_5_OR_NEWER
        [Obsolete("Sorted is obsolete.")]
#endif
        Sorted = 2,
        WantsMore = 8,
        Packages = 256,
        Default = 2,
    }

    public class SearchProvider
    {
        public bool active;
        public string filterId;
        public int priority;

        public SearchProvider(string id, string displayName)
        {
            this.id = id;
            name = displayName;
        }

        public string id { get; }

        public string name { get; }
    }

    public class SearchContext : IDisposable
    {
        internal IReadOnlyList<string> Providers { get; set; }

        internal bool IsDisposed { get; private set; }

        public void Dispose() => IsDisposed = true;
    }

    public class SearchItem
    {
        public readonly string id;
        public SearchProvider provider;

        public SearchItem(string _id)
        {
            id = _id;
        }

        public string GetLabel(SearchContext context, bool stripHTML = false) => "label of " + id;

        public string GetDescription(SearchContext context, bool stripHTML = false) => "description of " + id;
    }

    public interface ISearchList : IList<SearchItem>, IDisposable
    {
        bool pending { get; }

        IEnumerable<SearchItem> GetRange(int skipCount, int count);
    }

    public static class SearchService
    {
        public static List<SearchProvider> Providers { get; } = new List<SearchProvider>
        {
            new SearchProvider("asset", "Project") { active = true, filterId = "p:", priority = 25 },
            new SearchProvider("log", "Log") { active = false, filterId = "log:", priority = 99 },
        };

        internal static StubList Last { get; private set; }

        internal static SearchContext LastContext { get; private set; }

        public static SearchContext CreateContext(
            IEnumerable<string> providerIds,
            string searchText = "",
            SearchFlags flags = SearchFlags.Default) => LastContext = new SearchContext { Providers = providerIds.ToList() };

        public static ISearchList Request(SearchContext context, SearchFlags options = SearchFlags.None) => Last = new StubList();
    }

    /// <summary>A list that a test fills; not Unity's.</summary>
    internal sealed class StubList : List<SearchItem>, ISearchList
    {
        public bool pending { get; set; } = true;

        public bool IsDisposed { get; private set; }

        IEnumerable<SearchItem> ISearchList.GetRange(int skipCount, int count) => GetRange(skipCount, count);

        public void Dispose() => IsDisposed = true;
    }
}
